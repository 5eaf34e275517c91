import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a wallet’s name is rendered as markup',
  seenIn: 'script injection by announced wallets (EIP-6963, security considerations)',
  file: 'web/client/wallets.js',
  from: "const bdi = Object.assign(document.createElement('bdi'), { textContent: name })",
  to: "const bdi = Object.assign(document.createElement('bdi'), { innerHTML: name })",
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
