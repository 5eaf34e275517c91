import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a wallet on another network is asked to sign',
  seenIn: 'wallets left on the test network',
  file: 'web/client/stellarWallet.js',
  from: "  if (networkDetails?.networkPassphrase !== network) throw new WalletProblem('otherNetwork');",
  to: "  if (networkDetails === null) throw new WalletProblem('otherNetwork');",
  breaks: 'onePress',
  specs: ['test/web/preparedWallets.test.ts'],
};
