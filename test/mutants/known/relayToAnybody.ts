import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key signs an authorization to an address that is no deposit of ours',
  seenIn: 'facilitators that relay for the whole world (free-relayer abuse)',
  file: 'src/chains/evm/signer/signer.ts',
  from: ['      addressOf(hexToBytes(form.deposit.salt)) === form.deposit.address &&', ''].join('\n'),
  to: '',
  breaks: 'relayedOnce',
  specs: ['test/chains/evm/signer/relaySigner.test.ts'],
};
