import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

/** Identity of a chain's network from its first read; null before that. @throws Unavailable */
export async function identityOf(sql: Sql, chainId: ChainId): Promise<string | null> {
  const [row] = await sql.query<{ identity: string }>('SELECT identity FROM ops.chain_identities WHERE chain_id = $1', [
    chainId,
  ]);
  return row?.identity ?? null;
}

/** The first caller decides. @returns the stored identity */
export async function rememberIdentity(sql: Sql, chainId: ChainId, identity: string, at: Instant): Promise<string> {
  await sql.query(
    'INSERT INTO ops.chain_identities (chain_id, identity, noted_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [chainId, identity, at],
  );
  return (await identityOf(sql, chainId)) ?? identity;
}

/** Highest block of the chain that any pass has read; null before the first. @throws Unavailable */
export async function furthestRead(sql: Sql, chainId: ChainId): Promise<bigint | null> {
  const [row] = await sql.query<{ block: string | null }>(
    'SELECT max(block_number)::text AS block FROM ops.chain_cursors WHERE chain_id = $1',
    [chainId],
  );
  return row?.block ? BigInt(row.block) : null;
}

/**
 * Deletes the records of a reset network: its identity, its read progress, and unreadable transactions and blocks. One statement, so that a
 * crash leaves all or nothing.
 * @returns number of recorded unreadable transactions
 */
export async function forgetChain(sql: Sql, chainId: ChainId): Promise<number> {
  const [row] = await sql.query<{ unreadable: number }>(
    `WITH cursors AS (DELETE FROM ops.chain_cursors WHERE chain_id = $1),
          identities AS (DELETE FROM ops.chain_identities WHERE chain_id = $1),
          blocks AS (DELETE FROM ops.unread_blocks WHERE chain_id = $1),
          unreadable AS (DELETE FROM ops.work_failures WHERE worker = $2 RETURNING key)
     SELECT count(*)::integer AS unreadable FROM unreadable`,
    [chainId, `payins:${chainId}:unreadable`],
  );
  return row?.unreadable ?? 0;
}
