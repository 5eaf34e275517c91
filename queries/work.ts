/** To-do lists, without items that are parked or wait after a failure. */
import type { Instant } from '../domain/time.ts';
import type { WebhookEventType } from '../domain/webhook.ts';
import type { Sql } from '../projections/sql.ts';

/** Fields for a worker, which loads the payment's stream before it acts. */
export interface PaymentKey {
  readonly paymentId: string;
}

interface Asked {
  /** Worker whose failures make an item wait. */
  readonly worker: string;
  readonly max: number;
  readonly now: Instant;
}

/** The part of all payments that one of several workers handles. */
export interface WorkerShare {
  /** Counted from 1. */
  readonly number: number;
  readonly of: number;
}

/**
 * Ids are hashes or random, so shares by their first four digits are about equally large.
 * @returns a condition; empty for all payments
 */
function inShare(key: string, share: WorkerShare | undefined): string {
  if (share === undefined || share.of === 1) return '';
  const from = `AND ${key} COLLATE "C" >= '${shareBegins(share.number - 1, share.of)}'`;
  return share.number === share.of ? from : `${from} AND ${key} COLLATE "C" < '${shareBegins(share.number, share.of)}'`;
}

const idPrefixes = 16 ** 4;
const shareBegins = (before: number, of: number): string =>
  before === 0
    ? ''
    : Math.floor((before * idPrefixes) / of)
        .toString(16)
        .padStart(4, '0');

export interface EndedFunding {
  readonly paymentId: string;
  readonly fundingPaymentId: string;
  readonly appId: string;
  readonly refund: number;
}

/** Funded refunds whose payment has ended, or was never created. Oldest first. @throws Unavailable */
export const endedFundings = (sql: Sql, { worker, max, now }: Asked): Promise<readonly EndedFunding[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId", funding_payment_id AS "fundingPaymentId", app_id AS "appId", refund
       FROM todo_funded_refunds
      WHERE due_at <= $2 AND ${notWaiting('funding_payment_id')} ORDER BY due_at LIMIT $3`,
    [worker, now, max],
  );

/** Items that are neither parked nor before their next attempt; $1 is the worker, $2 the time. */
export const notWaiting = (key: string) => `NOT EXISTS (
  SELECT FROM ops.work_failures f
   WHERE f.worker = $1 AND f.key = ${key} AND (f.parked_at IS NOT NULL OR f.next_attempt_at > $2))`;

/** A pass of a chain whose saved cursor must be past the due time. */
export interface RequiredPass {
  readonly chainId: number;
  readonly pass: string;
}

export interface DueExpiries extends Asked {
  /** Passes that must all have scanned past a payment's end, per chain. */
  readonly passes: readonly RequiredPass[];
  readonly share?: WorkerShare;
}

/**
 * Payments whose end all these passes have scanned past, in chain time, on every chain that can pay them; up to `max` per chain, so no
 * chain delays another. A chain without a cursor of a pass has none. A payment with an unexplained deposit balance, or a possible
 * unreadable payin, waits until that was retried often enough. Oldest first. @throws Unavailable
 */
export const dueExpiries = (
  sql: Sql,
  { worker, passes, max, now, share }: DueExpiries,
): Promise<readonly PaymentKey[]> =>
  sql.query(
    `WITH scanned AS MATERIALIZED (
       SELECT chain_id, min(chain_time) AS scanned_to
         FROM unnest($3::integer[], $4::text[]) AS wanted (chain_id, pass)
         LEFT JOIN ops.chain_cursors USING (chain_id, pass)
        GROUP BY chain_id HAVING count(*) = count(chain_time))
     SELECT due.payment_id AS "paymentId"
       FROM scanned,
            LATERAL (SELECT payment_id, due_at FROM todo_payments AS todo
                      WHERE todo.chain_id = scanned.chain_id AND due_at <= scanned_to ${inShare('payment_id', share)}
                        AND ${notWaiting('payment_id')} AND ${depositExplained} AND ${depositRead}
                        AND NOT EXISTS (SELECT FROM todo_payments AS other LEFT JOIN scanned AS there USING (chain_id)
                                         WHERE other.payment_id = todo.payment_id
                                           AND (there.scanned_to IS NULL OR other.due_at > there.scanned_to))
                      ORDER BY due_at LIMIT $5) AS due
      GROUP BY due.payment_id, due.due_at
      ORDER BY due.due_at`,
    [worker, now, passes.map(({ chainId }) => chainId), passes.map(({ pass }) => pass), max],
  );

const depositExplained = `NOT EXISTS (
  SELECT FROM ops.work_failures f JOIN deposits d ON d.address = f.key AND d.memo = ''
   WHERE f.worker = 'payins:' || d.chain_id || ':unexplained' AND f.parked_at IS NULL AND d.payment_id = todo.payment_id)`;

const depositRead = `NOT EXISTS (
  SELECT FROM ops.unreadable_transactions u JOIN ops.work_failures f USING (worker, key)
    JOIN deposits d ON d.address = ANY (u.addresses) AND d.memo = ''
   WHERE f.parked_at IS NULL AND d.payment_id = todo.payment_id)`;

/** A payment event to report to its app. */
export interface DueWebhook {
  readonly deliveryId: string;
  readonly paymentId: string;
  readonly appId: string;
  readonly eventType: WebhookEventType;
  readonly eventId: string;
  readonly eventRevision: bigint;
  /** URL in force at the payment's creation. */
  readonly url: string;
  /** Further endpoint; null for the app's webhook URL. */
  readonly endpointId: string | null;
}

export interface DueWebhooks extends Asked {
  /** Maximum per webhook URL of an app: the backlog of a hanging receiver must not hide the others. */
  readonly perApp: number;
  /** Maximum per further endpoint. */
  readonly perEndpoint: number;
  readonly share?: WorkerShare;
}

/** Oldest first. A webhook that fails before it is sent holds back the payment's later ones to the same receiver. @throws Unavailable */
export const dueWebhooks = (
  sql: Sql,
  { worker, max, now, perApp, perEndpoint, share }: DueWebhooks,
): Promise<readonly DueWebhook[]> =>
  sql.query(
    `SELECT delivery_id AS "deliveryId", payment_id AS "paymentId", app_id AS "appId", event_type AS "eventType",
            event_id AS "eventId", event_revision AS "eventRevision", url,
            endpoint_id AS "endpointId"
       FROM (SELECT *, row_number() OVER (PARTITION BY app_id, endpoint_id ORDER BY created_at, payment_id, event_revision) AS nth
               FROM todo_webhooks
              WHERE ${notWaiting(`payment_id || coalesce(':' || endpoint_id, '')`)} ${inShare('payment_id', share)}) AS due
      WHERE nth <= CASE WHEN endpoint_id IS NULL THEN $4::bigint ELSE $5::bigint END
      ORDER BY created_at, payment_id, event_revision, endpoint_id NULLS FIRST LIMIT $3`,
    [worker, now, max, perApp, perEndpoint],
  );

/** Transfers assigned to a payment that has not recorded them after a crash. Oldest first. @throws Unavailable */
export const unfinishedMatches = (sql: Sql, { worker, max, now }: Asked): Promise<readonly { readonly id: string }[]> =>
  sql.query(
    `SELECT u.transfer_id AS id FROM unmatched u
      WHERE u.verdict = 'assigned'
        AND NOT EXISTS (SELECT FROM payins p WHERE p.payment_id = u.payment_id AND p.transfer_id = u.transfer_id)
        AND ${notWaiting('u.transfer_id')}
      ORDER BY u.decided_at LIMIT $3`,
    [worker, now, max],
  );

/** Payments with policy refunds to a proven address. Oldest first. @throws Unavailable */
export const duePolicyRefunds = (
  sql: Sql,
  { worker, max, now }: Asked,
): Promise<readonly (PaymentKey & { readonly proven: boolean })[]> =>
  sql.query(
    `SELECT payment_id AS "paymentId", proven FROM todo_policy_refunds todo
      WHERE (proven OR EXISTS (SELECT FROM payins JOIN credit_signers ON account = from_address
                                WHERE payins.payment_id = todo.payment_id))
        AND ${notWaiting('todo.payment_id')} ORDER BY due_at, payment_id LIMIT $3`,
    [worker, now, max],
  );
