import type { Sql } from './sql.ts';

/** Which of these addresses are payments' own already. @throws Unavailable */
export async function knownDeposits(sql: Sql, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ address: string }>('SELECT address FROM deposits WHERE address = ANY ($1)', [
    addresses,
  ]);
  return new Set(rows.map(({ address }) => address));
}
