import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'two wallets that announce one id are one wallet',
  seenIn: 'connectors that key providers by uuid',
  file: 'web/client/evmWallet.js',
  from: `    id: provider,
    name,`,
  to: `    id: rdns === undefined ? provider : 'announced',
    name,`,
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
