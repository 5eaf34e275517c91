/** Commands for refunds and refund addresses with their dependencies: for requests, and for the operator's tools. */
import { createRefundAddresses, type RefundAddresses } from '../../../commands/refundAddress.ts';
import { createRefunds, type Refunds } from '../../../commands/refunds.ts';
import { familyAddresses } from '../../chains/families.ts';
import { createMessageSigners } from '../../chains/messages.ts';
import type { Core } from '../../core.ts';
import { createPayoutCosts } from '../payouts/routeGuard.ts';

type Needs = Pick<Core, 'config' | 'handle' | 'clock' | 'chains' | 'receiverChecks'>;

export const refundsOf = ({ handle, clock, receiverChecks, ...core }: Needs): Refunds =>
  createRefunds({
    handle,
    clock,
    addresses: familyAddresses,
    canReceive: receiverChecks,
    payoutCostOf: payoutCostsOf({ clock, ...core }),
  });

export const payoutCostsOf = ({ config, clock, chains }: Pick<Core, 'config' | 'clock' | 'chains'>) =>
  createPayoutCosts({
    clock,
    rails: new Map([...chains].map(([id, { rail }]) => [id, rail])),
    coins: new Map(config.chains.map(({ chainId, coin }) => [chainId, coin])),
  });

export const refundAddressesOf = (
  { handle, clock, chains }: Pick<Core, 'handle' | 'clock' | 'chains'>,
  service: () => string,
): RefundAddresses =>
  createRefundAddresses({ handle, clock, addresses: familyAddresses, signers: createMessageSigners(chains), service });
