import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an expired prepared transaction is reported as a failure without a reason',
  seenIn: 'blockhashes and time bounds that end while the payer reads',
  file: 'web/client/walletProblem.js',
  from: "'/coin': 'noCoin', '/expired': 'expired' }",
  to: "'/coin': 'noCoin' }",
  breaks: 'onePress',
  specs: ['test/web/preparedWallets.test.ts'],
};
