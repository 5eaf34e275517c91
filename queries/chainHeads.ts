import type { Sql } from '../projections/sql.ts';

/** The newest block of each chain that has been read, by chain id. @throws Unavailable */
export async function headsOf(sql: Sql): Promise<ReadonlyMap<number, bigint>> {
  const rows = await sql.query<{ chainId: number; head: string }>(
    `SELECT chain_id AS "chainId", block_number AS head FROM ops.chain_cursors WHERE pass = 'head'`,
  );
  return new Map(rows.map(({ chainId, head }) => [chainId, BigInt(head)]));
}
