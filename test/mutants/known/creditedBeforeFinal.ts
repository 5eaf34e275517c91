import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payin counts when it is first detected',
  seenIn: 'zero-confirmation credits',
  file: 'domain/payment/payins.ts',
  from: ['  if (!final) return events;', "  events.push({ type: 'PayinConfirmed'"].join('\n'),
  to: "  events.push({ type: 'PayinConfirmed'",
  breaks: 'creditedWhenFinal',
  specs: ['test/domain/payment/payins.test.ts'],
  seed: 1,
};
