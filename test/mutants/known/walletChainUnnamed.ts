import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'the transaction names no chain',
  seenIn: 'wallets that send on the chain that they are on',
  file: 'web/client/evmWallet.js',
  from: "value: '0x0', chainId: chain.id }]",
  to: "value: '0x0' }]",
  breaks: 'onePress',
  specs: ['test/web/wallets.test.ts'],
};
