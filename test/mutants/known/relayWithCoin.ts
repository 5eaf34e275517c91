import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the relay key signs an authorization with coin beside it',
  seenIn: 'keys that check a call and not its value',
  file: 'src/chains/evm/signer/signer.ts',
  from: '  isAddressEqual(to, call.to) && data === call.data && value === call.value?.toString();',
  to: '  isAddressEqual(to, call.to) && data === call.data;',
  breaks: 'relayedOnce',
  specs: ['test/chains/evm/signer/relaySigner.test.ts'],
};
