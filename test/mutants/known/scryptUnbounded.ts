import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'any number of sign-in codes is hashed at once, each with 16 MB',
  seenIn: 'sign-in endpoints without a limit on concurrent hashes',
  file: 'src/accounts/passcodes.ts',
  from: 'const hashesMax = 2;',
  to: 'const hashesMax = 1_000;',
  breaks: 'strangersBounded',
  specs: ['test/accounts/signIn.test.ts'],
};
