import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a wallet that returns no hash is reported as not having sent',
  seenIn: 'wallets that lose the answer to a transaction that they sent',
  file: 'web/client/evmWallet.js',
  from: "  if (!isHash(hash)) throw new WalletProblem('notSeen', true);",
  to: "  if (!isHash(hash)) throw new WalletProblem('refused');",
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
