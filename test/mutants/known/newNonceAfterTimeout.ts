import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a transfer that is not mined in time is paid again under a new nonce',
  seenIn: 'elizaOS#10600, OpenZeppelin relayer: a retry after a timeout takes the next nonce',
  file: 'domain/transfer/record.ts',
  from: ['  if (live)', '    return replaces(live, attempt)'].join('\n'),
  to: ['  if (live)', '    return replaces(live, attempt) || live.nonce !== attempt.nonce'].join('\n'),
  breaks: 'paidOnce',
  specs: ['test/domain/transfer/leg.test.ts'],
};
