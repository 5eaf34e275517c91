import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what one node made up in a block that there is waits for ever, and its payment with it',
  seenIn: 'watchers that take a transfer as gone only when its block is',
  file: 'src/chains/solana/payins/ingester.ts',
  from: '  if (hash !== blockHash || !signatures.includes(txHash)) return false;',
  to: '  if (hash === blockHash || !signatures.includes(txHash)) return hash === blockHash;',
  breaks: 'everyPayinKept',
  specs: ['test/chains/solana/payins/forks.test.ts'],
};
