import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transaction that burns on Solana may have further instructions',
  seenIn: 'signers that look for the expected call in a transaction and ignore the rest',
  file: 'src/chains/solana/signer/signer.ts',
  from: '    if (!same(message, burnMessage(account, order, event.address, terms))) throw mismatch(purpose);',
  to: '    if (message.length < burnMessage(account, order, event.address, terms).length) throw mismatch(purpose);',
  breaks: 'moneyInTransit',
  specs: ['test/chains/solana/signer/rebalances.test.ts'],
};
