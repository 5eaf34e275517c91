import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a repeated order creates another payment',
  seenIn: 'endpoints that check the key before the write and not in it',
  file: 'commands/paymentId.ts',
  from: 'idOf(idSalt, kinds.keyed, [orderId]);',
  to: 'idOf(idSalt, kinds.keyed, [orderId, String(globalThis.performance.now())]);',
  breaks: 'oneOrder',
  specs: ['test/commands/createPayment.test.ts'],
};
