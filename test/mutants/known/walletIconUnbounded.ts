import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'an icon of any size is loaded',
  seenIn: 'announced icons of several megabytes',
  file: 'web/client/wallets.js',
  from: 'text.length <= iconMax && ',
  to: '',
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
