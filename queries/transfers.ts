/** What is to leave the treasury, and what has left it. */
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

/** All that a worker needs: it loads the stream before it acts. */
export interface ListedTransfer {
  readonly key: TransferKey;
  /** Whose it is; null for the treasury's own. */
  readonly appId: string | null;
}

export interface DueTransfers {
  /** Whose failures make a transfer wait. */
  readonly worker: string;
  readonly chainId: ChainId;
  readonly max: number;
  readonly now: Instant;
  /** Payouts that nothing was signed for yet and that are due since later than this are put together by somebody else, but for these. */
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

/** What the index of due transfers holds. */
const isDue = `step IN ('order', 'sign', 'broadcast', 'tell', 'batched')`;

/**
 * The oldest of each app, then the second of each, and so on: no app's backlog is before the others' transfers, and the treasury's own are
 * like an app's. Apps are found one after the other in the index, and of each no more than `max` rows are read: a backlog of 100,000 is not
 * numbered at each look.
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

/** Payouts on a chain that nothing was signed for yet, the oldest first. @throws Unavailable */
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
  /** When it was settled; null while it is not. */
  readonly settledAt: Instant | null;
}

/** Those that are signed and not settled, and those that were settled after `since`, the newest first; of a batch its members. Relays count by limits of their own. @throws Unavailable */
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
  /** References of transfers that are not counted. */
  readonly but: readonly string[];
}

/** What transfers that can land and are not settled take of an asset on a chain, in smallest units. @throws Unavailable */
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
