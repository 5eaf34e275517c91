import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key on Solana believes that the payer signed the transaction',
  seenIn: 'facilitators that accept a forged signature (Bindu #532)',
  file: 'src/chains/solana/signer/signer.ts',
  from: [
    '    movesOrdered(sent.message, order, order.form.payer) &&',
    '    // A transaction that the payer did not sign would be refused, and the opened account would keep its rent.',
    '    isSignedByPayer(sent);',
  ].join('\n'),
  to: '    movesOrdered(sent.message, order, order.form.payer);',
  breaks: 'relayedOnce',
  specs: ['test/chains/solana/payouts/relay.test.ts'],
};
