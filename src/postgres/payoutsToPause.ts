/** Chains whose payouts are to be paused before anything is signed: an older log would pay again what it does not know was paid. */
import { type ChainId, chains } from '../../domain/chains.ts';
import type { Sql } from '../../projections/sql.ts';

/** All chains of the catalogue: which are configured, the next start says. */
export const notePayoutsToPause = (sql: Sql): Promise<unknown> =>
  sql.query('INSERT INTO ops.payouts_to_pause (chain_id) SELECT unnest($1::int[]) ON CONFLICT DO NOTHING', [
    chains.map(({ id }) => id),
  ]);

/** @throws Unavailable */
export async function arePayoutsToPause(sql: Sql, chainId: ChainId): Promise<boolean> {
  const rows = await sql.query('SELECT chain_id FROM ops.payouts_to_pause WHERE chain_id = $1', [chainId]);
  return rows.length > 0;
}

export const payoutsArePaused = (sql: Sql, chainId: ChainId): Promise<unknown> =>
  sql.query('DELETE FROM ops.payouts_to_pause WHERE chain_id = $1', [chainId]);
