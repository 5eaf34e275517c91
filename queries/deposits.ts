/** The deposit addresses that payments wait at. */
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

/** A deposit address in a list that is read page by page; the time, and then the key, give it its place there. */
export interface ListedDeposit {
  readonly address: string;
  readonly at: Instant;
  readonly key: string;
}

/** `after`: the last one of the page before; null for the first page. */
export interface DepositsPage {
  readonly after: ListedDeposit | null;
  readonly max: number;
}

/** Deposit addresses on a chain whose payments wait for their money, those that end last first; each payment has one. @throws Unavailable */
export const openDeposits = (
  sql: Sql,
  chainId: number,
  { after, max }: DepositsPage,
): Promise<readonly ListedDeposit[]> =>
  sql.query(
    `SELECT address, due_at AS at, payment_id AS key FROM todo_payments JOIN deposits USING (payment_id, chain_id)
      WHERE chain_id = $1 AND (due_at, payment_id) < (coalesce($2::timestamptz, 'infinity'), $3)
      ORDER BY due_at DESC, payment_id DESC LIMIT $4`,
    [chainId, after?.at ?? null, after?.key ?? '', max],
  );

/** Deposit addresses on a chain whose payments' time ends at `since` or later, whatever their status; the last end first. @throws Unavailable */
export const lateDeposits = (
  sql: Sql,
  chainId: number,
  { since, after, max }: DepositsPage & { readonly since: Instant },
): Promise<readonly ListedDeposit[]> =>
  sql.query(
    `SELECT address, expires_at AS at, address AS key FROM deposits
      WHERE chain_id = $1 AND expires_at >= $2 AND (expires_at, address) < (coalesce($3::timestamptz, 'infinity'), $4)
      ORDER BY expires_at DESC, address DESC LIMIT $5`,
    [chainId, since, after?.at ?? null, after?.key ?? '', max],
  );

/** A deposit that money came to. */
export interface PaidDeposit {
  /** As its chain spells it. */
  readonly address: string;
  readonly paymentId: string;
}

export interface PaidPage {
  /** Of their payments: only those that are over. */
  readonly statuses: readonly string[];
  /** The last payment of the page before; empty for the first page. */
  readonly after: string;
  readonly max: number;
  /** Left out: whenever the money came. */
  readonly since?: Instant;
}

/**
 * A list of transfers, of which each payment's deposit is one row. Where the page begins is said of both tables: then both are read along
 * their indexes, and no further than the page. @param payment its column
 */
const paidIn = (transfers: string, payment: string): string =>
  `(SELECT DISTINCT ON (payments.payment_id) payments.payment_id, to_address
      FROM ${transfers} AS paid JOIN payments ON payments.payment_id = paid.${payment}
     WHERE paid.chain_id = $1 AND paid.${payment} > $3 AND payments.payment_id > $3 AND status = ANY ($2)
       AND block_time >= coalesce($5::timestamptz, '-infinity')
     ORDER BY payments.payment_id LIMIT $4)`;

/**
 * Deposits that received money on a chain for good, also for a payment that had recorded as many transfers as it takes, one page after the
 * other. Whether it is there still only the chain knows. @throws Unavailable
 */
export const paidDeposits = (
  sql: Sql,
  chainId: number,
  { statuses, after, max, since }: PaidPage,
): Promise<readonly PaidDeposit[]> =>
  sql.query(
    `SELECT DISTINCT ON (payment_id) payment_id AS "paymentId", to_address AS address FROM (
       ${paidIn(`(SELECT * FROM payins WHERE phase = 'confirmed')`, 'payment_id')}
       UNION ALL
       ${paidIn('unmatched', 'beyond_payment')}
     ) AS paid ORDER BY payment_id LIMIT $4`,
    [chainId, statuses, after, max, since ?? null],
  );
