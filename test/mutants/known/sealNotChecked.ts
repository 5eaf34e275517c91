import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an event with any seal is accepted',
  seenIn: 'hash chains without a key: every writer can continue the chain',
  file: 'src/store/sealed.ts',
  from: '  if (seals.isSealOf(linkOf(stored), seal)) return null;',
  to: '  if (seal.length > 0) return null;',
  breaks: 'logIsOurs',
  specs: ['test/store/sealed.test.ts'],
};
