import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an operator can approve their own withdrawal',
  seenIn: 'four-eyes rules that count approvals, not people',
  file: 'domain/treasury/operation.ts',
  from: ['  if (by === ordered.by)', ''].join('\n'),
  to: ['  if (by === ordered.by && calledOff)', ''].join('\n'),
  breaks: 'twoPeople',
  specs: ['test/domain/treasury/operation.test.ts'],
};
