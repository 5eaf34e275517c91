import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a reload forgets the sent payment and offers to pay again',
  seenIn: 'checkout pages that keep their state in memory',
  file: 'web/client/wallets.js',
  from: `    record({ ...sent, due: dueOf(), from: wallet.detail ?? '', at: Date.now() });
`,
  to: '',
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
