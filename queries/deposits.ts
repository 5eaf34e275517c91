/** Deposit addresses and the payments behind them. */
import type { PayinAddress } from '../domain/payment/payins.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** A deposit that a transfer may be for. */
export interface MatchedDeposit extends PayinAddress {
  readonly paymentId: string;
  readonly appId: string;
  /** The agreed amount in whole tokens, rounded up; null where the payment takes any amount. */
  readonly agreed_usd: bigint | null;
}

const columns = 'address, memo, payment_id AS "paymentId", app_id AS "appId", agreed_usd';

/** The deposits among these addresses and memos, whichever EVM chain they were paid on. @throws Unavailable */
export async function matchDeposits(sql: Sql, addresses: readonly PayinAddress[]): Promise<readonly MatchedDeposit[]> {
  const shared = addresses.filter(({ memo }) => memo !== '');
  const own = shared.length === 0 ? addresses : addresses.filter(({ memo }) => memo === '');
  const [byAddress, byMemo] = await Promise.all([matchOwn(sql, own), matchShared(sql, shared)]);
  return [...byAddress, ...byMemo];
}

/** Addresses with one payment each. There may be very many, so the query is one that the index answers directly. */
const matchOwn = async (sql: Sql, addresses: readonly PayinAddress[]) =>
  addresses.length === 0
    ? []
    : sql.query<MatchedDeposit>(`SELECT ${columns} FROM deposits WHERE address = ANY ($1) AND memo = ''`, [
        addresses.map(({ address }) => address),
      ]);

const matchShared = async (sql: Sql, addresses: readonly PayinAddress[]) =>
  addresses.length === 0
    ? []
    : sql.query<MatchedDeposit>(
        `SELECT ${columns} FROM unnest($1::text[], $2::text[]) AS paid (address, memo) JOIN deposits USING (address, memo)`,
        [addresses.map(({ address }) => address), addresses.map(({ memo }) => memo)],
      );

/** Those of these addresses that payments have already. @throws Unavailable */
export async function knownDeposits(sql: Sql, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ address: string }>('SELECT address FROM deposits WHERE address = ANY ($1)', [
    addresses,
  ]);
  return new Set(rows.map(({ address }) => address));
}

const pageRows = 5_000;
const pagesMax = 200;

/** Deposit addresses of a chain's payments that wait for their money. @throws Unavailable */
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

/** Deposit addresses of a chain's payments whose time ends at `since` or later, whatever their status. @throws Unavailable */
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
  new Error(`chain ${chainId} has more than ${pageRows * pagesMax} deposits to watch, more than one scan can cover`);

/** A deposit of a payment that has ended. */
export interface EndedDeposit {
  readonly address: string;
  readonly paymentId: string;
}

/** Deposits of a chain's payments with these statuses, a page at a time. @param after the last address of the page before @throws Unavailable */
export const endedDeposits = (
  sql: Sql,
  chainId: number,
  { statuses, after, max }: { readonly statuses: readonly string[]; readonly after: string; readonly max: number },
): Promise<readonly EndedDeposit[]> =>
  sql.query(
    `SELECT deposit_address AS address, payment_id AS "paymentId" FROM payments
      WHERE source_chain_id = $1 AND status = ANY ($2) AND deposit_address > $3 ORDER BY deposit_address LIMIT $4`,
    [chainId, statuses, after, max],
  );
