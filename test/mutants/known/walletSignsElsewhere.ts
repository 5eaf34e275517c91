import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'another account is asked to sign the refund address',
  seenIn: 'signatures of an account that did not pay',
  file: 'web/client/evmWallet.js',
  from: "  if (!accounts.some((each) => String(each).toLowerCase() === account.toLowerCase())) throw new WalletProblem('otherAccount');",
  to: "  if (accounts.length === 0) throw new WalletProblem('otherAccount');",
  breaks: 'onePress',
  specs: ['test/web/refundSigning.test.ts'],
};
