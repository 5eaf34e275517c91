import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a payin that one node invented in an existing block waits forever, and its payment with it',
  seenIn: 'watchers that remove a transfer only together with its block',
  file: 'src/chains/solana/payins/ingester.ts',
  from: '  if (hash !== blockHash || !signatures.includes(txHash)) return false;',
  to: '  if (hash === blockHash || !signatures.includes(txHash)) return hash === blockHash;',
  breaks: 'everyPayinKept',
  specs: ['test/chains/solana/payins/forks.test.ts'],
};
