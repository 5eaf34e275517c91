import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the cents of a bounced withdrawal return to the account at each retry of a worker',
  seenIn: 'refunds of failed transfers that are credited again at each retry',
  file: 'commands/withdrawCashback.ts',
  from: '    if (!(await findWithdrawal(store, { appId, paymentId, createdAt }))) return undefined;',
  to: '    await findWithdrawal(store, { appId, paymentId, createdAt });',
  breaks: 'decidedOnce',
  specs: ['test/commands/withdrawCashback.test.ts'],
};
