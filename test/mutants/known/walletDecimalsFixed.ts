import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the amount for a wallet has six decimals on every chain',
  seenIn: 'USDC on BNB Chain, which has 18 decimals',
  file: 'src/chains/evm/walletOffer.ts',
  from: 'parseAmount(amount, known.decimals)',
  to: 'parseAmount(amount, 6)',
  breaks: 'onePress',
  specs: ['test/chains/walletOffers.test.ts'],
};
