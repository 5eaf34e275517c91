import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key on Stellar signs another call than that of the ordered entry',
  seenIn: 'keys that check an order and not its transaction',
  file: 'src/chains/stellar/signer/relaySigner.ts',
  from: ['      operationOf(inner, purpose).toXDR().equals(callOf(order).toXDR()) &&', ''].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/chains/stellar/payouts/relay.test.ts'],
};
