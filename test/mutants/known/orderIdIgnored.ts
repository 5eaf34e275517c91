import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a repeated order makes another payment',
  seenIn: 'endpoints that look for the key before, and not where they write',
  file: 'commands/paymentId.ts',
  from: 'idOf(idSalt, kinds.keyed, [orderId]);',
  to: 'idOf(idSalt, kinds.keyed, [orderId, String(globalThis.performance.now())]);',
  breaks: 'oneOrder',
  specs: ['test/commands/createPayment.test.ts'],
};
