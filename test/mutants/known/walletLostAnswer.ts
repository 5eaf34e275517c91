import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a lost answer of the service is reported as nothing sent',
  seenIn: 'payers who pay twice after a timeout',
  file: 'web/client/stellarWallet.js',
  from: "    throw problem.word === 'busy' ? new WalletProblem('notSeen', true) : problem;",
  to: '    throw problem;',
  breaks: 'onePress',
  specs: ['test/web/preparedWallets.test.ts'],
};
