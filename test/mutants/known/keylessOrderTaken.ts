import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an order without a key belongs to whoever sends its id first, with any terms and words',
  seenIn: 'this service before: the honest front end was refused with 409',
  file: 'commands/createPayment.ts',
  from: 'keylessPaymentIdOf(idSalt, orderId, receiver, boundBy(request, asked))',
  to: "keylessPaymentIdOf(idSalt, orderId, receiver, boundBy(request, asked) && '')",
  breaks: 'oneOrder',
  specs: ['test/commands/keylessOrders.test.ts'],
};
