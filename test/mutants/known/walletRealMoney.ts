import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a simulated payment is sent on the real chain of the same id',
  seenIn: 'test shops on forked chains that wallets take for the real one',
  file: 'web/client/evmWallet.js',
  from: '  return Number(first?.timestamp) >= realBefore_s;',
  to: '  return first !== null;',
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
