/** One payment as the API returns it. */
import { Unavailable } from '../commands/ports.ts';
import { type AsOf, upTo } from '../domain/asOf.ts';
import { type DomainEvent, isRefusal, type Refusal, type StoredEvent } from '../domain/decider.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { type PaymentView, viewOf } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { findIdSalt } from './apps.ts';
import { build, newestFirst } from './sql.ts';

export interface GetPaymentDeps {
  readonly sql: Sql;
  /** All events of a stream in order; with `after`, at least the first one after that revision. @throws Unavailable */
  readonly history: (stream: string, after?: bigint) => Promise<readonly StoredEvent[]>;
  /** The event in the current schema version; undefined for a type that this version does not know. */
  readonly read: (stored: StoredEvent) => DomainEvent | undefined;
}

/**
 * Reads the payment's row, or its stream if the row is missing or behind: a caller who changed the payment sees the change in their next
 * request. While the log is unavailable, the row alone answers. Null if there is none. @throws Unavailable
 */
export async function getPayment(deps: GetPaymentDeps, paymentId: string): Promise<PaymentView | null> {
  const [row] = await deps.sql.query<PaymentRow>('SELECT * FROM payments WHERE payment_id = $1', [paymentId]);
  return row ? newestView(deps, row) : fromStream(deps, paymentId);
}

async function newestView(deps: GetPaymentDeps, row: PaymentRow): Promise<PaymentView> {
  const { payment_id: paymentId, revision } = row;
  try {
    const later = await deps.history(`payment-${paymentId}`, revision);
    const isBehind = later.some((event) => event.revision > revision);
    return (isBehind && (await fromStream(deps, paymentId))) || viewOfRow(row);
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return viewOfRow(row);
  }
}

async function fromStream({ history, read }: GetPaymentDeps, paymentId: string): Promise<PaymentView | null> {
  return viewAfter(await history(`payment-${paymentId}`), read);
}

export interface PaymentAsOf {
  readonly appId: string;
  readonly createdAt: Instant;
  /** Null before it was created. */
  readonly view: PaymentView | null;
}

/** A payment as it was at a moment, from its stream. Null if it does not exist today. @throws Unavailable */
export async function getPaymentAsOf(
  { history, read }: Pick<GetPaymentDeps, 'history' | 'read'>,
  paymentId: string,
  asOf: AsOf,
): Promise<PaymentAsOf | null> {
  const events = await history(`payment-${paymentId}`);
  const now = viewAfter(events, read);
  return now && { appId: now.appId, createdAt: now.createdAt, view: viewAfter(upTo(events, asOf), read) };
}

function viewAfter(events: readonly StoredEvent[], read: GetPaymentDeps['read']): PaymentView | null {
  const payment = events.reduce((state, stored) => {
    const event = read(stored);
    return event ? paymentDecider.evolve(state, event as PaymentEvent) : state;
  }, paymentDecider.initial);
  const last = events.at(-1);
  return payment && last ? viewOf(payment, last.metadata.at) : null;
}

export interface GetPaymentByOrderDeps extends GetPaymentDeps {
  /** Id of an order's payment, from its app's salt. */
  readonly paymentIdOf: (idSalt: string, orderId: string) => string;
}

/**
 * The payment that an app created for its order with a key; null if there is none. Payments without a key are ignored: strangers choose
 * their order ids. A payment created a moment ago has no row yet: its id follows from the app's salt, and its stream answers. @throws
 * Unavailable
 */
export async function getPaymentByOrder(
  deps: GetPaymentByOrderDeps,
  appId: string,
  orderId: string,
): Promise<PaymentView | null> {
  const [row] = await deps.sql.query<PaymentRow>(
    'SELECT * FROM payments WHERE app_id = $1 AND order_id = $2 AND NOT keyless',
    [appId, orderId],
  );
  if (row) return newestView(deps, row);
  const idSalt = await findIdSalt(deps.sql, appId);
  return idSalt === null ? null : getPayment(deps, deps.paymentIdOf(idSalt, orderId));
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Matches ids in any letter case. Undefined for a text that cannot be a payment's id. */
export function paymentIdIn(text: string): string | undefined {
  const id = text.toLowerCase();
  return uuid.test(id) ? id : undefined;
}

export interface PaymentFilter {
  readonly appId: string;
  /** Rows of a page, from 1 on. */
  readonly limit: number;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  readonly status?: string;
  readonly orderId?: string;
  /** A payment's id, its order's id, or the full hash of one of its transactions in the chain's spelling. */
  readonly search?: string;
  /** ISO 8601; exclusive. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
}

export interface PaymentPage {
  readonly payments: readonly PaymentView[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** An app's payments, newest first. Refuses an invalid cursor. @throws Unavailable */
export async function listPayments(sql: Sql, filter: PaymentFilter): Promise<PaymentPage | Refusal> {
  const { appId, limit, cursor, status, orderId, search, createdAfter, createdBefore, updatedAfter } = filter;
  const query = build('payments').where('app_id', appId);
  if (status !== undefined) query.where('status', status);
  if (orderId !== undefined) query.where('order_id', orderId);
  if (search !== undefined) query.whereRaw(...isFoundBy(appId, search.trim()));
  if (createdAfter !== undefined) query.where('created_at', '>', createdAfter);
  if (createdBefore !== undefined) query.where('created_at', '<', createdBefore);
  if (updatedAfter !== undefined) query.where('updated_at', '>', updatedAfter);
  const page = await newestFirst<PaymentRow>(sql, query, { at: 'created_at', id: 'payment_id' }, { limit, cursor });
  return isRefusal(page) ? page : { payments: page.rows.map(viewOfRow), nextCursor: page.nextCursor };
}

/** Each kind of search has its index. A hash that was only registered is in no transaction. */
function isFoundBy(appId: string, text: string): [sql: string, bindings: string[]] {
  const hash = /^(0x)?[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : text;
  return [
    `payment_id IN (
       SELECT payment_id FROM payments WHERE payment_id = ?
       UNION SELECT payment_id FROM payments WHERE app_id = ? AND order_id = ?
       UNION SELECT payment_id FROM payments WHERE app_id = ? AND payin_tx_hash = ? AND payin_confirmed_at IS NULL
       UNION SELECT payment_id FROM transactions WHERE tx_hash = ? AND app_id = ?)`,
    [paymentIdIn(text) ?? '', appId, text, appId, hash, hash, appId],
  ];
}
