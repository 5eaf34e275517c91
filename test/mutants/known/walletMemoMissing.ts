import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the payment that a wallet of Stellar signs has no memo',
  seenIn: 'payments to shared accounts without a memo, which nobody can assign',
  file: 'src/chains/stellar/payerTransactions.ts',
  from: 'memo: memo === null ? Memo.none() : Memo.text(memo)',
  to: 'memo: Memo.none()',
  breaks: 'onePress',
  specs: ['test/chains/stellar/payerTransactions.test.ts'],
};
