/** The shape of a read model: what happened to a stream becomes row changes. Pure. */
import type { StoredEvent } from '../domain/event.ts';
import type { MerchantEvent, MerchantState } from '../domain/merchant.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import type { Payment, PaymentState } from '../domain/payment/state.ts';
import type { UnmatchedEvent, UnmatchedState } from '../domain/unmatched.ts';
import type { WebhookEvent, WebhookState } from '../domain/webhook.ts';
import type { TableKeys, Tables } from './tables.ts';

/** A stream's state before and after some of its events, so that a projection need not ask a table what was there. */
interface MoveOf<Category, Before, After = Before> {
  readonly category: Category;
  readonly before: Before;
  readonly after: After;
  /** The last of these events. */
  readonly stored: StoredEvent;
}
export type MovedPayment = MoveOf<'payment', PaymentState, Payment>;
export type MovedMerchant = MoveOf<'merchant', MerchantState>;
export type MovedWebhook = MoveOf<'webhook', WebhookState>;
export type MovedUnmatched = MoveOf<'unmatched', UnmatchedState, NonNullable<UnmatchedState>>;
export type Moved = MovedPayment | MovedMerchant | MovedWebhook | MovedUnmatched;

/** A move by a single event. */
export type SeenPayment = MovedPayment & { readonly event: PaymentEvent };
export type SeenMerchant = MovedMerchant & { readonly event: MerchantEvent };
export type SeenWebhook = MovedWebhook & { readonly event: WebhookEvent };
export type SeenUnmatched = MovedUnmatched & { readonly event: UnmatchedEvent };
export type Seen = SeenPayment | SeenMerchant | SeenWebhook | SeenUnmatched;

/** Columns in snake_case. Amounts and big numbers as decimal texts, times as ISO 8601. Applied only where the table has them all. */
export type Row = Readonly<Record<string, string | number | boolean | object | null | undefined>>;

/** Within a batch the last upsert or removal of a key wins; additions are summed up. */
export type RowChange =
  | { readonly op: 'upsert'; readonly table: string; readonly row: Row }
  | { readonly op: 'remove'; readonly table: string; readonly key: Row }
  /** Adds to a row's other columns than its key; the row begins at zero. */
  | { readonly op: 'add'; readonly table: string; readonly row: Row };

export type Projection =
  /** Rows that follow from states: asked once per stream and batch, however many events moved it. */
  | { readonly name: string; readonly of: 'states'; project(moved: Moved): readonly RowChange[] }
  /** Rows that tell of single events. */
  | { readonly name: string; readonly of: 'events'; project(seen: Seen): readonly RowChange[] };

/** Read models that are filled together: one subscription, one checkpoint, one transaction per batch. */
export interface ProjectionSet {
  readonly name: string;
  /** Raised with every change of its tables or projections: the rows then are rebuilt beside the live ones. */
  readonly version: number;
  readonly projections: readonly Projection[];
  /** Which channel to notify when rows of a table changed. */
  readonly channels: Readonly<Record<string, string>>;
}

/** Every column, and what may be null may be left undefined. */
type Whole<R> = { readonly [C in keyof R]: null extends R[C] ? R[C] | undefined : R[C] };
/** A row without a field that is no column of its table: the compiler refuses it even where the row comes in a variable. */
type Only<R, Columns extends PropertyKey> = R & { readonly [C in Exclude<keyof R, Columns>]: never };

export const upsert = <T extends keyof Tables, R extends Whole<Tables[T]>>(
  table: T,
  row: Only<R, keyof Tables[T]>,
): RowChange => ({ op: 'upsert', table, row });

export const remove = <T extends keyof Tables, R extends Pick<Tables[T], TableKeys[T] & keyof Tables[T]>>(
  table: T,
  key: Only<R, TableKeys[T]>,
): RowChange => ({ op: 'remove', table, key });

export const add = <T extends keyof Tables, R extends Whole<Tables[T]>>(
  table: T,
  row: Only<R, keyof Tables[T]>,
): RowChange => ({ op: 'add', table, row });

type Project<M> = (moved: M) => readonly RowChange[];

export const ofPayments = (name: string, project: Project<MovedPayment>): Projection => ({
  name,
  of: 'states',
  project: (moved) => (moved.category === 'payment' ? project(moved) : []),
});

export const ofMerchants = (name: string, project: Project<MovedMerchant>): Projection => ({
  name,
  of: 'states',
  project: (moved) => (moved.category === 'merchant' ? project(moved) : []),
});

export const ofWebhooks = (name: string, project: Project<MovedWebhook>): Projection => ({
  name,
  of: 'states',
  project: (moved) => (moved.category === 'webhook' ? project(moved) : []),
});

export const ofUnmatched = (name: string, project: Project<MovedUnmatched>): Projection => ({
  name,
  of: 'states',
  project: (moved) => (moved.category === 'unmatched' ? project(moved) : []),
});

export const ofEvents = (name: string, project: Project<Seen>): Projection => ({ name, of: 'events', project });
