import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a delivery’s row is written after the POST',
  seenIn: 'BTCPay: a crash in between leaves no trace, and the webhook is sent again',
  file: 'commands/sendWebhook.ts',
  from: '    const start = await claim(first, facts, signal);',
  to: [
    '    await post({ url: delivery.url, headers: {}, body });',
    '    const start = await claim(first, facts, signal);',
  ].join('\n'),
  breaks: 'onePost',
  specs: ['test/commands/sendWebhook.test.ts'],
  seed: 1,
};
