import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a delivery that was under way when the process ended is sent again',
  seenIn: 'Svix, Hookdeck and others: at least once',
  file: 'domain/webhook.ts',
  from: "  state.stage === 'new' ? [{",
  to: "  state.stage === 'new' || state.stage === 'started' ? [{",
  breaks: 'onePost',
  specs: ['test/commands/sendWebhook.test.ts'],
  seed: 29,
};
