import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a second press sends a second payment while the first is open',
  seenIn: 'payment buttons without a lock',
  file: 'web/client/wallets.js',
  from: '  const step = (word) => isMine() && tell(word, { closed: true, wallet: wallet.name });',
  to: '  const step = (word) => isMine() && tell(word, { wallet: wallet.name });',
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
