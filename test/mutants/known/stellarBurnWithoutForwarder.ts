import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'a burn for Stellar names the account instead of the forwarder, so nobody can ever mint it',
  seenIn: 'integrations that treat the recipient on Stellar as an account',
  file: 'domain/rebalance/burnMessage.ts',
  from: '  return { mintRecipient: forwarder, destinationCaller: forwarder,',
  to: '  return { mintRecipient: address32(receiver), destinationCaller: forwarder,',
  breaks: 'moneyInTransit',
  specs: ['test/chains/evm/signer/rebalances.test.ts'],
};
