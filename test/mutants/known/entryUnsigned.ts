import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key on Stellar believes that the payer signed the entry',
  seenIn: 'facilitators that accept a forged signature (Bindu #532)',
  file: 'src/chains/stellar/signer/relaySigner.ts',
  from: [
    '      operationOf(inner, purpose).toXDR().equals(callOf(order).toXDR()) &&',
    '      // An entry that the payer did not sign would fail, and cost the fee.',
    '      isSignedByPayer(entry, networkPassphrase);',
  ].join('\n'),
  to: '      operationOf(inner, purpose).toXDR().equals(callOf(order).toXDR());',
  breaks: 'relayedOnce',
  specs: ['test/chains/stellar/payouts/relay.test.ts'],
};
