import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'any text that a wallet returns counts as the hash of a payment',
  seenIn: 'checkout pages that show a wallet’s answer as paid',
  file: 'web/client/evmWallet.js',
  from: "  if (!isHash(hash)) throw new WalletProblem('notSeen', true);",
  to: "  if (hash === undefined) throw new WalletProblem('notSeen', true);",
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
