import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key on Solana pays for a transaction to an address that is no deposit of ours',
  seenIn: 'facilitators that relay for the whole world (free-relayer abuse)',
  file: 'src/chains/solana/signer/signer.ts',
  from: ['    if (!(await isOwnDeposit(order, depositAt))) throw relayMismatch();', ''].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/chains/solana/payouts/relay.test.ts'],
};
