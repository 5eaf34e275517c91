/** The shape of a read model: what happened to a stream becomes row changes. Pure. */
import type { Decider, StoredEvent } from '../domain/decider.ts';
import type { Category, streams } from '../domain/streams.ts';
import type { TableKeys, Tables } from './tables.ts';

/** Categories without read models: their streams are not folded. */
export const unprojected = [
  'addressBook',
  'allowance',
  'webhookTypes',
  'sealing',
  'heads',
  'signature',
  'fundingUse',
  'moneyUse',
  'signingHour',
  'relayGas',
] as const satisfies readonly Category[];
type ProjectedCategory = Exclude<Category, (typeof unprojected)[number]>;

type StateOf<C extends ProjectedCategory> =
  (typeof streams)[C]['decider'] extends Decider<infer S, infer _> ? S : never;
type EventOf<C extends ProjectedCategory> =
  (typeof streams)[C]['decider'] extends Decider<infer _, infer E> ? E : never;

/** A stream's state before and after some of its events, so that a projection need not ask a table what was there. */
interface MoveOf<C extends ProjectedCategory> {
  readonly category: C;
  readonly before: StateOf<C>;
  readonly after: NonNullable<StateOf<C>>;
  /** The last of these events. */
  readonly stored: StoredEvent;
}
type Moves = { [C in ProjectedCategory]: MoveOf<C> };
export type Moved<C extends ProjectedCategory = ProjectedCategory> = Extract<
  Moves[ProjectedCategory],
  { readonly category: C }
>;

/** Where in the log each webhook type was introduced that came after the first release. */
export type Introductions = ReadonlyMap<string, bigint>;

/** A move by a single event. */
export type Seen<C extends ProjectedCategory = ProjectedCategory> = {
  [K in C]: Moves[K] & {
    readonly event: EventOf<K>;
    /** Introductions up to this event, and perhaps later ones. */
    readonly introduced: Introductions;
  };
}[C];

/** Columns in snake_case. Amounts and big numbers are decimal texts, times are ISO 8601. A field that is no column is refused when applied. */
export type Row = Readonly<Record<string, string | number | boolean | object | null | undefined>>;

/** Within a batch the last upsert or removal of a key wins; additions are summed up; numbered rows stay in the order of the log. */
export type RowChange =
  | { readonly op: 'upsert'; readonly table: string; readonly row: Row }
  | { readonly op: 'remove'; readonly table: string; readonly key: Row }
  /** Adds to a row's other columns than its key; the row begins at zero, and goes when they are all zero again. */
  | { readonly op: 'add'; readonly table: string; readonly row: Row }
  /** A new row under the next number of its group: the key's last column is the number, from 1 on, its other columns are the group. */
  | { readonly op: 'number'; readonly table: string; readonly row: Row };

export type Projection =
  /** Rows that follow from states: asked once per stream and batch, however many events moved it. */
  | { readonly name: string; readonly of: 'states'; project(moved: Moved): readonly RowChange[] }
  /** Rows that tell of single events. */
  | { readonly name: string; readonly of: 'events'; project(seen: Seen): readonly RowChange[] }
  /** The same, told of events whose type this version does not know, too. */
  | { readonly name: string; readonly of: 'records'; project(moved: Moved): readonly RowChange[] };

/** Read models that are filled together: one subscription, one checkpoint, one transaction per batch. */
export interface ProjectionSet {
  readonly name: string;
  /** Raise it with every change of its tables or rows: the set is then rebuilt beside the live one. */
  readonly version: number;
  readonly projections: readonly Projection[];
  /** How many events a rebuild commits at once, at least; 10,000 when left out. More are less work where most rows follow from states. */
  readonly rebuildBatch_events?: number;
  /** Only people look at it: it may be a moment behind, and leaves the processor to what moves money. */
  readonly unhurried?: true;
  /** Which channel to notify when rows of a table changed; of numbered rows with `<group> <newest number>`. */
  readonly channels: Readonly<Record<string, string>>;
}

/** Every column must be given; a nullable one may be undefined. */
type Whole<R> = { readonly [C in keyof R]: null extends R[C] ? R[C] | undefined : R[C] };
/** Refuses fields that are no columns, also those of a variable, which the compiler would let pass. */
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

/** @param row without the number */
export const number = <T extends keyof Tables, R extends Whole<Omit<Tables[T], NumberOf<T>>>>(
  table: T,
  row: Only<R, Exclude<keyof Tables[T], NumberOf<T>>>,
): RowChange => ({ op: 'number', table, row });

/** The number that a table's rows get when they are applied. */
type NumberOf<T extends keyof Tables> = TableKeys[T] & 'ordinal';

type Project<M> = (moved: M) => readonly RowChange[];

const isOf = <C extends ProjectedCategory>(moved: Moved, category: C): moved is Moved<C> => moved.category === category;

export const ofStates = <C extends ProjectedCategory>(
  name: string,
  category: C,
  project: Project<Moved<C>>,
): Projection => ({
  name,
  of: 'states',
  project: (moved) => (isOf(moved, category) ? project(moved) : []),
});

export const ofRecords = <C extends ProjectedCategory>(
  name: string,
  category: C,
  project: Project<Moved<C>>,
): Projection => ({
  name,
  of: 'records',
  project: (moved) => (isOf(moved, category) ? project(moved) : []),
});

export const ofEvents = (name: string, project: Project<Seen>): Projection => ({ name, of: 'events', project });
