import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the amount of a payer’s transaction on Solana is not compared with the amount due',
  seenIn: 'servers that read the amount from the client (grantex #557)',
  file: 'src/chains/solana/relaying.ts',
  from: ['        sent.amount === amount &&', ''].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/chains/solana/payouts/relay.test.ts'],
};
