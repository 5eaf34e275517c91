import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'transfers that are prepared side by side do not count each other',
  seenIn: 'payout services that check the balance before they queue: two use the same money',
  file: 'src/workers/payouts/numberingAccounts.ts',
  from: '      for (const [own, each] of held) if (own !== reference && each.token === token) others += each.amount;',
  to: '',
  breaks: 'floatReserved',
  specs: ['test/workers/payouts/sideBySide.test.ts'],
};
