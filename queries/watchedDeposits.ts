import type { Instant } from '../domain/time.ts';
import type { Sql } from './sql.ts';

const pageRows = 5_000;
const pagesMax = 200;

/** Where the payments of a chain are paid to that wait for their money. @throws Unavailable */
export async function openDeposits(sql: Sql, chainId: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let pages = 0; pages < pagesMax; pages++) {
    const rows = await sql.query<{ address: string }>(
      `SELECT deposit_address AS address FROM payments
        WHERE source_chain_id = $1 AND status IN ('payment_unpaid', 'payment_started') AND deposit_address > $2
        ORDER BY deposit_address LIMIT ${pageRows}`,
      [chainId, found.at(-1) ?? ''],
    );
    for (const { address } of rows) found.push(address);
    if (rows.length < pageRows) return found;
  }
  throw tooMany(chainId);
}

/** Where the payments of a chain are paid to that had time until `since` or later, whatever became of them. @throws Unavailable */
export async function lateDeposits(sql: Sql, chainId: number, since: Instant): Promise<readonly string[]> {
  const found: string[] = [];
  let after = { expires_at: since, address: '' };
  for (let pages = 0; pages < pagesMax; pages++) {
    const rows = await sql.query<typeof after>(
      `SELECT expires_at, address FROM deposits WHERE chain_id = $1 AND (expires_at, address) > ($2::timestamptz, $3)
        ORDER BY expires_at, address LIMIT ${pageRows}`,
      [chainId, after.expires_at, after.address],
    );
    for (const { address } of rows) found.push(address);
    after = rows.at(-1) ?? after;
    if (rows.length < pageRows) return found;
  }
  throw tooMany(chainId);
}

const tooMany = (chainId: number): Error =>
  new Error(`chain ${chainId} has more than ${pageRows * pagesMax} deposits to watch: nobody can look at them all`);
