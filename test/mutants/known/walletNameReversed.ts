import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a wallet’s name may contain direction marks',
  seenIn: 'spoofed names by U+202E',
  file: 'web/client/wallets.js',
  from: "String(text ?? '').replaceAll(/[\\p{C}\\p{Z}]+/gu, ' ').trim()",
  to: "String(text ?? '').trim()",
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
