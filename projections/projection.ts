/** The shape of a read model: events, with the states around them, become row changes. Pure. */
import type { StoredEvent } from '../domain/event.ts';
import type { MerchantEvent, MerchantState } from '../domain/merchant.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import type { Payment, PaymentState } from '../domain/payment/state.ts';
import type { WebhookEvent, WebhookState } from '../domain/webhook.ts';

/** An event with its stream's state before and after it, so that a projection need not ask a table what was there. */
interface SeenOf<Category, Event, Before, After = Before> {
  readonly category: Category;
  readonly event: Event;
  readonly stored: StoredEvent;
  readonly before: Before;
  readonly after: After;
}
export type SeenPayment = SeenOf<'payment', PaymentEvent, PaymentState, Payment>;
export type SeenMerchant = SeenOf<'merchant', MerchantEvent, MerchantState>;
export type SeenWebhook = SeenOf<'webhook', WebhookEvent, WebhookState>;
export type Seen = SeenPayment | SeenMerchant | SeenWebhook;

/** Columns in snake_case. Amounts and big numbers as decimal texts, times as ISO 8601. */
export type Row = Readonly<Record<string, string | number | boolean | object | null | undefined>>;

/** Within a batch the last upsert or removal of a key wins; additions are summed up. */
export type RowChange =
  | { readonly op: 'upsert'; readonly table: string; readonly row: Row }
  | { readonly op: 'remove'; readonly table: string; readonly key: Row }
  /** Adds to a row's other columns than its key; the row begins at zero. */
  | { readonly op: 'add'; readonly table: string; readonly row: Row };

export interface Projection {
  readonly name: string;
  project(seen: Seen): readonly RowChange[];
}

/** Read models that are filled together: one subscription, one checkpoint, one transaction per batch. */
export interface ProjectionSet {
  readonly name: string;
  /** Raised with every change of its tables or projections: the rows then are rebuilt beside the live ones. */
  readonly version: number;
  readonly projections: readonly Projection[];
  /** Which channel to notify when rows of a table changed. */
  readonly channels: Readonly<Record<string, string>>;
}

export const upsert = (table: string, row: Row): RowChange => ({ op: 'upsert', table, row });
export const remove = (table: string, key: Row): RowChange => ({ op: 'remove', table, key });
export const add = (table: string, row: Row): RowChange => ({ op: 'add', table, row });

type ProjectOf<S> = (seen: S) => readonly RowChange[];

export const ofPayments = (name: string, project: ProjectOf<SeenPayment>): Projection => ({
  name,
  project: (seen) => (seen.category === 'payment' ? project(seen) : []),
});

export const ofMerchants = (name: string, project: ProjectOf<SeenMerchant>): Projection => ({
  name,
  project: (seen) => (seen.category === 'merchant' ? project(seen) : []),
});

export const ofWebhooks = (name: string, project: ProjectOf<SeenWebhook>): Projection => ({
  name,
  project: (seen) => (seen.category === 'webhook' ? project(seen) : []),
});
