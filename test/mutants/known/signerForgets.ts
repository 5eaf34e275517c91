import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the signer signs a second transfer for one purpose while the first can still arrive',
  seenIn: 'remote signers that keep no record of their signatures',
  file: 'domain/signing/signature.ts',
  from: ['  if (alive)', ''].join('\n'),
  to: ['  if (alive && state.length === signaturesMax)', ''].join('\n'),
  breaks: 'paidOnce',
  specs: ['test/domain/signing/signing.test.ts'],
};
