import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a keyless order belongs to the first sender of its id, with any terms and texts',
  seenIn: 'an earlier version of this service: the honest front end got 409',
  file: 'commands/createPayment.ts',
  from: 'keylessPaymentIdOf(idSalt, orderId, receiver, boundBy(request, asked))',
  to: "keylessPaymentIdOf(idSalt, orderId, receiver, boundBy(request, asked) && '')",
  breaks: 'oneOrder',
  specs: ['test/commands/keylessOrders.test.ts'],
};
