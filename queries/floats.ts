/** Balances of the treasury's accounts in a token, and their movements, as recorded in the log. */
import type { ChainId } from '../domain/chains.ts';
import type { FloatFlow } from '../domain/rebalance/dryRun.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** A token on its chain. */
export interface FloatToken {
  readonly chainId: ChainId;
  readonly address: string;
}

/** Movements of a network before its restart do not count. */
const current = `position > coalesce((SELECT max(position) FROM treasury_movements AS ended
                                       WHERE ended.chain_id = moved.chain_id AND ended.kind = 'networkClosed'), -1)`;
const ofTokens = '(chain_id, asset) IN (SELECT * FROM unnest($1::int[], $2::text[]))';

/** Moves between our own accounts: a rebalance by hand, its arrival, a burn, a mint. */
const ofRebalances = `(kind IN ('rebalance', 'burn', 'mint')
                      OR (kind = 'topUp' AND tx_hash IN (SELECT arrived_tx_hash FROM operations WHERE arrived_tx_hash IS NOT NULL)))`;

const valuesOf = (tokens: readonly FloatToken[]) => [
  tokens.map(({ chainId }) => chainId),
  tokens.map(({ address }) => address),
];

export interface FloatSum {
  readonly chainId: ChainId;
  /** In smallest units. */
  readonly held: bigint;
}

/**
 * Returns what each chain's accounts held before a moment: the opening balance, and the movements of later blocks. The opening balance
 * contains earlier ones, which are recorded before or after it. Payin contracts have no books: they forward to the treasury, so the
 * chain's first opening counts. A chain is missing until its books are open: the policy would see an empty float.
 * @throws Unavailable
 */
export async function floatsBefore(
  sql: Sql,
  tokens: readonly FloatToken[],
  before: Instant,
): Promise<readonly FloatSum[]> {
  const rows = await sql.query<{ chainId: ChainId; held: string }>(
    `WITH opened AS (
       SELECT chain_id, account, max(block_number) AS block FROM treasury_movements AS moved
        WHERE kind = 'opening' AND at < $3 AND ${current} GROUP BY 1, 2)
     SELECT chain_id AS "chainId", sum(amount)::text AS held
       FROM treasury_movements AS moved LEFT JOIN opened USING (chain_id, account)
      WHERE ${ofTokens} AND at < $3 AND ${current} AND (kind = 'opening' OR block_number > coalesce(
              opened.block, (SELECT min(block) FROM opened AS of_chain WHERE of_chain.chain_id = moved.chain_id)))
      GROUP BY 1 HAVING sum(amount) >= 0 ORDER BY 1`,
    [...valuesOf(tokens), before],
  );
  return rows.map(({ chainId, held }) => ({ chainId, held: BigInt(held) }));
}

export interface OutflowSum {
  readonly chainId: ChainId;
  readonly day: bigint;
  readonly week: bigint;
}

/** Returns what payouts and refunds took within the last day and the last 7 days. @throws Unavailable */
export async function outflows(
  sql: Sql,
  tokens: readonly FloatToken[],
  { day, week }: { readonly day: Instant; readonly week: Instant },
): Promise<readonly OutflowSum[]> {
  const rows = await sql.query<{ chainId: ChainId; day: string; week: string }>(
    `SELECT chain_id AS "chainId", (-coalesce(sum(amount) FILTER (WHERE at >= $3), 0))::text AS day, (-sum(amount))::text AS week
       FROM treasury_movements AS moved
      WHERE ${ofTokens} AND at >= $4 AND kind IN ('payout', 'refund') AND ${current} GROUP BY 1 ORDER BY 1`,
    [...valuesOf(tokens), day, week],
  );
  return rows.map(({ chainId, day: today, week: lately }) => ({ chainId, day: BigInt(today), week: BigInt(lately) }));
}

/** Maximum movements of one dry run: they are held in memory. */
export const flowsMax = 2_000_000;

/**
 * Returns movements within a time, the oldest first, without those between our own accounts.
 * @throws RangeError for more than `flowsMax`; Unavailable
 */
export async function flowsBetween(
  sql: Sql,
  tokens: readonly FloatToken[],
  { from, to }: { readonly from: Instant; readonly to: Instant },
): Promise<readonly FloatFlow[]> {
  const rows = await sql.query<{ chainId: ChainId; at: Instant; amount: string; isDemand: boolean }>(
    `SELECT chain_id AS "chainId", at, amount::text AS amount, kind IN ('payout', 'refund') AS "isDemand"
       FROM treasury_movements AS moved
      WHERE ${ofTokens} AND at >= $3 AND at < $4 AND amount <> 0 AND ${current} AND NOT ${ofRebalances}
      ORDER BY position, chain_id LIMIT ${flowsMax + 1}`,
    [...valuesOf(tokens), from, to],
  );
  if (rows.length > flowsMax)
    throw new RangeError(`more than ${flowsMax} movements are within this time: choose fewer days`);
  return rows.map(({ amount, ...flow }) => ({
    ...flow,
    amount: BigInt(amount),
  }));
}

/** Returns the ids of rebalances whose burn is recorded and whose mint is not, the oldest first; at most `max`. @throws Unavailable */
export async function rebalancesInTransit(sql: Sql, max: number): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT substring(reference FROM '^rebalance-(.+)/burn$') AS id FROM treasury_movements AS burned
      WHERE kind = 'burn' AND reference IS NOT NULL AND asset <> 'coin'
        AND NOT EXISTS (SELECT 1 FROM treasury_movements AS minted
                         WHERE minted.kind = 'mint' AND minted.asset <> 'coin'
                           AND minted.reference = regexp_replace(burned.reference, '/burn$', '/mint'))
      ORDER BY position LIMIT $1`,
    [max],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of rebalances whose arrival was recorded after `since`, the oldest first; at most `max`. @throws Unavailable */
export async function rebalancesArrived(sql: Sql, since: Instant, max: number): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `SELECT substring(reference FROM '^rebalance-(.+)/mint$') AS id FROM treasury_movements
      WHERE kind = 'mint' AND asset <> 'coin' AND at > $1 ORDER BY position LIMIT $2`,
    [since, max],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of rebalances whose burn is ordered or whose money is in transit; at most `max` of each. @throws Unavailable */
export async function openRebalances(sql: Sql, max: number): Promise<readonly string[]> {
  const [inTransit, ordered] = await Promise.all([
    rebalancesInTransit(sql, max),
    sql.query<{ id: string }>(
      `SELECT substring(reference FROM '^rebalance-(.+)/burn$') AS id FROM transfers
        WHERE kind = 'burn' AND step <> 'done' ORDER BY due_at LIMIT $1`,
      [max],
    ),
  ]);
  return [...new Set([...inTransit, ...ordered.map(({ id }) => id)])];
}
