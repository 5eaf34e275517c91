/** Transfers that the treasury owes or has made. */
import type { ChainId } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import type { Instant } from '../domain/time.ts';
import {
  type AssetRef,
  keyOf,
  moneyLeaves,
  type PurposeKind,
  purposeKinds,
  type TransferKey,
} from '../domain/transfer/shapes.ts';

import type { Sql } from '../projections/sql.ts';
import { notWaiting } from './work.ts';

/** Fields for a worker, which loads the stream before it acts. */
export interface ListedTransfer {
  readonly key: TransferKey;
  /** App of the transfer; null for the treasury's own. */
  readonly appId: string | null;
}

export interface DueTransfers {
  /** Worker whose failures make a transfer wait. */
  readonly worker: string;
  readonly chainId: ChainId;
  readonly max: number;
  readonly now: Instant;
  /** Excludes unsigned payouts due after this time, which the batch worker groups, except these. */
  readonly together?: { readonly since: Instant; readonly but: readonly string[] };
  /** Relays alone, which have an account and workers of their own. Default: all other transfers. */
  readonly relays?: boolean;
}

interface Referred {
  readonly reference: string;
  readonly appId: string;
}

const listed = ({ reference, appId }: Referred): ListedTransfer => ({
  key: keyOf(reference),
  appId: appId === '' ? null : appId,
});

/** Condition of the index of due transfers. */
const isDue = `step IN ('order', 'sign', 'broadcast', 'tell', 'batched')`;

/**
 * The oldest transfer of each app, then the second of each, and so on: no app's backlog delays the others, and the treasury counts as an
 * app. Finds apps one after the other in the index and reads at most `max` rows of each, so a backlog of 100,000 is not numbered on each
 * call.
 * @throws Unavailable
 */
export async function dueTransfers(sql: Sql, { worker, now, chainId, max, together, relays = false }: DueTransfers) {
  const rows = await sql.query<Referred>(
    `WITH RECURSIVE owing AS (
         SELECT (SELECT min(app_id) FROM transfers WHERE chain_id = $3 AND ${isDue}) AS app_id
         UNION ALL
         SELECT (SELECT min(app_id) FROM transfers t WHERE t.chain_id = $3 AND t.app_id > owing.app_id AND ${isDue})
           FROM owing WHERE app_id IS NOT NULL)
     SELECT reference, due.app_id AS "appId"
       FROM (SELECT oldest.*, row_number() OVER (PARTITION BY oldest.app_id ORDER BY due_at, reference) AS nth
               FROM owing, LATERAL (
                 SELECT reference, todo.app_id, due_at FROM transfers AS todo
                  WHERE todo.chain_id = $3 AND todo.app_id = owing.app_id AND ${isDue}
                    AND due_at <= $2 AND (kind = 'relay') = $7 AND ${notWaiting('reference')}
                    AND NOT ($5::timestamptz IS NOT NULL AND ${isUnsigned} AND due_at > $5 AND reference <> ALL ($6))
                  ORDER BY due_at, reference LIMIT $4) AS oldest) AS due
      ORDER BY nth, due_at LIMIT $4`,
    [worker, now, chainId, max, together?.since ?? null, together?.but ?? [], relays],
  );
  return rows.map(listed);
}

const isUnsigned = `kind = 'payout' AND step IN ('order', 'sign') AND NOT signed`;

export interface WaitingPayout {
  readonly paymentId: string;
  readonly tokenAddress: string;
  readonly dueAt: Instant;
}

/** Unsigned payouts on a chain, oldest first. @throws Unavailable */
export const waitingPayouts = (
  sql: Sql,
  { worker, now, chainId, max }: DueTransfers,
): Promise<readonly WaitingPayout[]> =>
  sql.query(
    `SELECT reference AS "paymentId", token_address AS "tokenAddress", due_at AS "dueAt" FROM transfers
      WHERE chain_id = $3 AND ${isDue} AND ${isUnsigned} AND due_at <= $2 AND ${notWaiting('reference')}
      ORDER BY due_at, reference LIMIT $4`,
    [worker, now, chainId, max],
  );

export interface RecentTransfer extends ListedTransfer {
  readonly kind: PurposeKind;
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  /** In whole tokens. */
  readonly amount: string;
  /** Time of settlement; null before it. */
  readonly settledAt: Instant | null;
}

/** Signed and unsettled transfers, and those settled after `since`, newest first; a batch appears as its members. @throws Unavailable */
export async function recentTransfers(
  sql: Sql,
  { since, max }: { readonly since: Instant; readonly max: number },
): Promise<readonly RecentTransfer[]> {
  const rows = await sql.query<Omit<RecentTransfer, 'key'> & Referred>(
    `SELECT reference, kind, chain_id AS "chainId", app_id AS "appId", token_address AS "tokenAddress", amount,
            settled_at AS "settledAt"
       FROM transfers
      WHERE ((signed AND settled_at IS NULL AND step <> 'done') OR settled_at > $1) AND kind NOT IN ('batch', 'relay')
      ORDER BY settled_at DESC NULLS FIRST LIMIT $2`,
    [since, max],
  );
  return rows.map(({ reference, appId, ...row }) => ({ ...row, ...listed({ reference, appId }) }));
}

export interface Unsettled {
  readonly chainId: ChainId;
  readonly token: AssetRef;
  /** References of transfers to exclude. */
  readonly but: readonly string[];
}

/** Amount of an asset on a chain, in smallest units, that live unsettled transfers use. @throws Unavailable */
export async function unsettledOf(sql: Sql, { chainId, token, but }: Unsettled): Promise<bigint> {
  const [sum] = await sql.query<{ amount: string }>(
    `SELECT coalesce(sum(amount), 0) AS amount FROM transfers
      WHERE chain_id = $1 AND token_address = $2 AND step = 'broadcast' AND reference <> ALL ($3) AND kind = ANY ($4)`,
    [chainId, token.address, but, purposeKinds.filter(moneyLeaves)],
  );
  const parsed = parseAmount(sum?.amount ?? '0', token.decimals);
  if (typeof parsed !== 'bigint')
    throw new Error(`${sum?.amount} of ${token.address} on chain ${chainId} is no amount`);
  return parsed;
}

/** Transfers on a chain that were settled after `since`, oldest first. @throws Unavailable */
export async function settledTransfers(
  sql: Sql,
  { chainId, since, max }: { readonly chainId: ChainId; readonly since: Instant; readonly max: number },
): Promise<readonly ListedTransfer[]> {
  const rows = await sql.query<Referred>(
    `SELECT reference, app_id AS "appId" FROM transfers
      WHERE chain_id = $1 AND settled_at > $2 ORDER BY settled_at LIMIT $3`,
    [chainId, since, max],
  );
  return rows.map(listed);
}

/** The ids of batches of payouts, the latest first. @throws Unavailable */
export async function listBatches(sql: Sql, max: number): Promise<readonly string[]> {
  const rows = await sql.query<Pick<Referred, 'reference'>>(
    `SELECT reference FROM transfers WHERE kind = 'batch' ORDER BY due_at DESC, reference LIMIT $1`,
    [max],
  );
  return rows.map(({ reference }) => keyOf(reference).id);
}
