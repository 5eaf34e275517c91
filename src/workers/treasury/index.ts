/** What orders of withdrawals stand on. */

import { coinOf } from '../../../domain/coins.ts';
import { assert } from '../../../domain/decider.ts';
import { microUsdDecimals, parseAmount } from '../../../domain/money.ts';
import type { Sql } from '../../../projections/sql.ts';
import { openObligations } from '../../../queries/payouts.ts';
import { owedCoin } from '../../../queries/treasury.ts';
import { addressBook } from '../../chains/families.ts';
import type { Core } from '../../core.ts';
import type { OwedOn } from '../payouts/spare.ts';
import type { WithdrawDeps } from './withdraw.ts';

/** What a chain's treasury owes, as the read models have it. */
export const owedOn =
  (sql: Sql): OwedOn =>
  async (chainId, but) => {
    const [obligations, coin] = await Promise.all([openObligations(sql, but), owedCoin(sql, chainId, but)]);
    const own = obligations.filter((each) => each.chainId === chainId);
    const withdrawn = parseAmount(coin.withdrawn, coinOf(chainId).decimals);
    assert(typeof withdrawn === 'bigint', 'amounts of coin are kept in whole coins');
    return {
      tokens: new Map(own.map(({ tokenAddress, amount }) => [tokenAddress, amount])),
      coin: withdrawn,
      payouts: coin.payouts,
    };
  };

const inMicroUsd = (whole: bigint): bigint => whole * 10n ** BigInt(microUsdDecimals);

/** Read models must know what was ordered a moment ago: they are waited for. */
export function withdrawals({ config, handle, clock, chains, database, caughtUp }: Core): WithdrawDeps {
  const coins = new Map(config.chains.map(({ chainId, coin }) => [chainId, coin]));
  const owed = owedOn(database);
  return {
    handle,
    clock,
    addresses: addressBook,
    rails: new Map([...chains].map(([id, { rail }]) => [id, rail])),
    owedOn: async (chainId, but) => {
      await caughtUp();
      return owed(chainId, but);
    },
    priceOf(chainId) {
      const coin = coins.get(chainId);
      assert(coin !== undefined, 'a chain that is configured has a coin');
      return coin;
    },
    limits: {
      approval_microUsd: inMicroUsd(config.withdrawals.approval_usd),
      perTransfer_microUsd: inMicroUsd(config.signer.perTransfer_usd),
    },
  };
}
