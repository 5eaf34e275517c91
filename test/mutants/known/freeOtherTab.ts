import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a signature that another tab was first with is reported as nothing sent',
  seenIn: 'checkout pages in two tabs that ask for a second payment',
  file: 'web/client/gasFree.js',
  from: '  if (isUnderWay(last)) return last;\n',
  to: '',
  breaks: 'onePress',
  specs: ['test/web/gasFreePrepared.test.ts'],
};
