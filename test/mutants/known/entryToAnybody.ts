import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key on Stellar sends an entry to a memo that is none of ours',
  seenIn: 'facilitators that relay for the whole world (free-relayer abuse)',
  file: 'src/chains/stellar/signer/relaySigner.ts',
  from: ['      isDeposit(order.form.deposit, treasury) &&', ''].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/chains/stellar/payouts/relay.test.ts'],
};
