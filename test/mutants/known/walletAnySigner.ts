import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transaction is sent without the payer’s signature',
  seenIn: 'relays of signed envelopes that check no signature',
  file: 'src/chains/stellar/payerTransactions.ts',
  from: "      return isSigned ? hash.toString('hex') : badSignature;",
  to: "      return isSigned || hash.length > 0 ? hash.toString('hex') : badSignature;",
  breaks: 'onePress',
  specs: ['test/chains/stellar/payerTransactions.test.ts'],
};
