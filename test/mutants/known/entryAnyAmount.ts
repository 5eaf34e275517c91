import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the amount of an entry is not compared with the amount due',
  seenIn: 'servers that read the amount from the client (grantex #557)',
  file: 'src/chains/stellar/relaying.ts',
  from: ['        transfer.amount === amount &&', ''].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/chains/stellar/payouts/relay.test.ts'],
};
