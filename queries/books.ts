/** Effects of recorded transfers on treasury accounts. */
import { Unavailable } from '../commands/ports.ts';
import { payinAddress } from '../domain/payment/payins.ts';
import type { Sql } from '../projections/sql.ts';
import { knownDeposits } from './payins.ts';

/** An account with the addresses that belong to it. */
export interface MovementsOf {
  readonly chainId: number;
  /** Account of the books. */
  readonly account: string;
  readonly accounts: readonly string[];
  /**
   * Number of networks of the chain that were closed before. A later network repeats block numbers, so log positions tell networks apart.
   */
  readonly networksClosed: number;
  /** Blocks after this one. */
  readonly after: bigint;
  readonly upTo: bigint;
}

/** Kinds that the books' own stream records; it is always current. */
const ofBooks = `kind IN ('opening', 'topUp', 'flush', 'explained', 'networkClosed')`;
const asked = 'chain_id = $1 AND account = ANY ($2) AND block_number > $3 AND block_number <= $4 AND position > $5';

async function valuesOf(sql: Sql, of: MovementsOf) {
  const { chainId, accounts, after, upTo } = of;
  return [chainId, accounts, after.toString(), upTo.toString(), await networkBegan(sql, of)];
}

/** Returns the log position after which events belong to the current network. @throws Unavailable while the rows are behind the log */
async function networkBegan(sql: Sql, { chainId, account, networksClosed }: MovementsOf): Promise<string> {
  if (networksClosed === 0) return '-1';
  const [row] = await sql.query<{ position: string }>(
    `SELECT position::text FROM treasury_movements
      WHERE chain_id = $1 AND account = $2 AND kind = 'networkClosed' AND reference = $3`,
    [chainId, account, String(networksClosed)],
  );
  if (!row) throw new Unavailable(`the read models do not know yet that a network of chain ${chainId} was closed`);
  return row.position;
}

/** Sums per asset in smallest units, without the books' own entries. @throws Unavailable */
export async function movedBetween(sql: Sql, of: MovementsOf): Promise<Readonly<Record<string, bigint>>> {
  const sums = await sql.query<{ asset: string; units: string }>(
    `SELECT asset, sum(amount)::text AS units FROM treasury_movements WHERE ${asked} AND NOT ${ofBooks} GROUP BY 1`,
    await valuesOf(sql, of),
  );
  return Object.fromEntries(sums.map(({ asset, units }) => [asset, BigInt(units)]));
}

/** Hashes of the recorded transactions. @throws Unavailable */
export async function movedHashes(sql: Sql, of: MovementsOf): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ hash: string }>(
    `SELECT DISTINCT tx_hash AS hash FROM treasury_movements WHERE ${asked} AND tx_hash <> ''`,
    await valuesOf(sql, of),
  );
  return new Set(rows.map(({ hash }) => hash));
}

export interface MovementSum {
  readonly asset: string;
  readonly kind: string;
  /** fee, rent, or amount. */
  readonly part: 'fee' | 'rent' | 'amount';
  readonly units: bigint;
}

/** Sums by asset and kind, without the opening. @throws Unavailable */
export async function movementSums(sql: Sql, of: MovementsOf): Promise<readonly MovementSum[]> {
  const rows = await sql.query<Omit<MovementSum, 'units'> & { units: string }>(
    `SELECT asset, kind, CASE WHEN part IN ('fee', 'rent') THEN part ELSE 'amount' END AS part, sum(amount)::text AS units
       FROM treasury_movements WHERE ${asked} AND kind <> 'opening' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    await valuesOf(sql, of),
  );
  return rows.map((row) => ({ ...row, units: BigInt(row.units) }));
}

/** Returns the transactions that payments or operations have signed. @throws Unavailable */
export async function signedAmong(sql: Sql, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ hash: string }>(
    `SELECT tx_hash AS hash FROM transactions WHERE tx_hash = ANY ($1) AND kind <> 'payin'
     UNION SELECT tx_hash FROM operations WHERE tx_hash = ANY ($1)`,
    [hashes],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** Returns the addresses that are deposits, in this spelling. @throws Unavailable */
export async function depositsAmong(sql: Sql, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  if (addresses.length === 0) return new Set();
  const keys = new Map(addresses.map((address) => [payinAddress(address, null).address, address]));
  const known = await knownDeposits(sql, [...keys.keys()]);
  return new Set([...keys].flatMap(([key, address]) => (known.has(key) ? [address] : [])));
}
