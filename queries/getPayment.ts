/** One payment as the API shows it. */
import type { DomainEvent, StoredEvent } from '../domain/decider.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { type PaymentView, viewOf } from '../domain/payment/view.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { findApp } from './apps.ts';
import { asStored } from './sql.ts';

export interface GetPaymentDeps {
  readonly sql: Sql;
  /** All events of a stream, read only. */
  readonly history: (stream: string) => Promise<readonly StoredEvent[]>;
  /** The event in today's form; undefined for a type that this version does not know. */
  readonly read: (stored: StoredEvent) => DomainEvent | undefined;
}

/** The payment's row; or, for one created a moment ago, what its stream says. Null when there is none. @throws Unavailable */
export async function getPayment(deps: GetPaymentDeps, paymentId: string): Promise<PaymentView | null> {
  const [row] = await deps.sql.query<PaymentRow>('SELECT * FROM payments WHERE payment_id = $1', [paymentId]);
  return row ? viewOfRow(row) : await fromStream(deps, paymentId);
}

async function fromStream({ history, read }: GetPaymentDeps, paymentId: string): Promise<PaymentView | null> {
  const events = await history(`payment-${paymentId}`);
  const payment = events.reduce((state, stored) => {
    const event = read(stored);
    return event ? paymentDecider.evolve(state, event as PaymentEvent) : state;
  }, paymentDecider.initial);
  const last = events.at(-1);
  return payment && last ? viewOf(payment, last.metadata.at) : null;
}

export interface GetPaymentByOrderDeps extends GetPaymentDeps {
  /** The ids that payments of an order can have, from the salt of its app; those that the app made itself first. */
  readonly paymentIdsOf: (idSalt: string, orderId: string) => readonly string[];
}

/**
 * The payment of an app's order, its own before one that was created without a key; null when there is none. A payment created a
 * moment ago has no row yet: its id follows from the app's salt, and its stream answers. @throws Unavailable
 */
export async function getPaymentByOrder(
  deps: GetPaymentByOrderDeps,
  appId: string,
  orderId: string,
): Promise<PaymentView | null> {
  const [row] = await deps.sql.query<PaymentRow>(
    'SELECT * FROM payments WHERE app_id = $1 AND order_id = $2 ORDER BY keyless LIMIT 1',
    [appId, asStored(orderId)],
  );
  if (row) return viewOfRow(row);
  const app = await findApp(deps.sql, appId);
  for (const paymentId of app ? deps.paymentIdsOf(app.idSalt, orderId) : []) {
    const found = await getPayment(deps, paymentId);
    if (found) return found;
  }
  return null;
}
