/** Payout costs in specs. */
import type { PayoutCostOf } from '../../commands/createPayment.ts';
import type { SendingDeps } from '../../commands/refunds.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import type { CoinSettings } from '../../src/chains/money/coins.ts';

/** Nothing, and the least is any. */
export const freePayouts: PayoutCostOf = async () => ({ cost_microUsd: 0n, least_microUsd: 0n });

/** A coin with this many decimals that costs nothing and has no spending limit. */
export const freeCoin = (decimals: number): CoinSettings => ({
  decimals,
  price_microUsd: 0n,
  perHour: 10n ** 30n,
  leastPayout_microUsd: 0n,
});

/** A refund costs five cents, and every receiver can receive it. */
export const sendingBack: SendingDeps = {
  addresses: familyAddresses,
  canReceive: {},
  payoutCostOf: async () => ({ cost_microUsd: 50_000n, least_microUsd: 0n }),
};
