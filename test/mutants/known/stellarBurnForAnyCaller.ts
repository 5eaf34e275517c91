import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn for Stellar lets every account mint past the forwarder, which strands the money',
  seenIn: 'integrations that copy the open caller of EVM routes',
  file: 'domain/rebalance/burnMessage.ts',
  from: '  return { mintRecipient: forwarder, destinationCaller: forwarder,',
  to: '  return { mintRecipient: forwarder, destinationCaller: zero32,',
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/rebalances.test.ts'],
};
