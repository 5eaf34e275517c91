import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the chain is not checked again before the wallet sends',
  seenIn: 'payments on the chain that the payer switched to while they read',
  file: 'web/client/evmWallet.js',
  from: "  if (!(await isOn(ask, offer.chain))) throw new WalletProblem('otherNetwork');",
  to: '  await isOn(ask, offer.chain);',
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
