import type { ChainId } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

/** What tells a chain's network from all others, as it was first seen; null before that. @throws Unavailable */
export async function identityOf(sql: Sql, chainId: ChainId): Promise<string | null> {
  const [row] = await sql.query<{ identity: string }>('SELECT identity FROM ops.chain_identities WHERE chain_id = $1', [
    chainId,
  ]);
  return row?.identity ?? null;
}

/** Whoever is first decides. @returns what is remembered */
export async function rememberIdentity(sql: Sql, chainId: ChainId, identity: string, at: Instant): Promise<string> {
  await sql.query(
    'INSERT INTO ops.chain_identities (chain_id, identity, noted_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [chainId, identity, at],
  );
  return (await identityOf(sql, chainId)) ?? identity;
}

/** A test network was begun anew: its identity, and how far the old one was read, are of no use. */
export async function forgetChain(sql: Sql, chainId: ChainId): Promise<void> {
  await sql.query('DELETE FROM ops.chain_cursors WHERE chain_id = $1', [chainId]);
  await sql.query('DELETE FROM ops.chain_identities WHERE chain_id = $1', [chainId]);
}
