/** Form of a read model: events of a stream become row changes. Pure. */
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
  'floatPlan',
] as const satisfies readonly Category[];
type ProjectedCategory = Exclude<Category, (typeof unprojected)[number]>;

type StateOf<C extends ProjectedCategory> =
  (typeof streams)[C]['decider'] extends Decider<infer S, infer _> ? S : never;
type EventOf<C extends ProjectedCategory> =
  (typeof streams)[C]['decider'] extends Decider<infer _, infer E> ? E : never;

/** A stream's state before and after some of its events, so a projection never queries a table. */
interface MoveOf<C extends ProjectedCategory> {
  readonly category: C;
  readonly before: StateOf<C>;
  readonly after: NonNullable<StateOf<C>>;
  /** The last of these events. */
  readonly stored: StoredEvent;
}
type Moves = { [C in ProjectedCategory]: MoveOf<C> };
export type MovedBy<C extends ProjectedCategory = ProjectedCategory> = Extract<
  Moves[ProjectedCategory],
  { readonly category: C }
>;

/** Log position at which each later webhook type was introduced. */
export type Introductions = ReadonlyMap<string, bigint>;

/** A move by a single event. */
export type SeenEventOf<C extends ProjectedCategory = ProjectedCategory> = {
  [K in C]: Moves[K] & {
    readonly event: EventOf<K>;
    /** Introductions up to this event, and perhaps later ones. */
    readonly introduced: Introductions;
  };
}[C];

/** Columns in snake_case. Amounts and big numbers are decimal texts, times are ISO 8601. Applying a field without a column fails. */
export type Row = Readonly<Record<string, string | number | boolean | object | null | undefined>>;

/** Within a batch the last upsert or removal of a key wins; additions are summed up; numbered rows keep log order. */
export type RowChange =
  | { readonly op: 'upsert'; readonly table: string; readonly row: Row }
  | { readonly op: 'remove'; readonly table: string; readonly key: Row }
  /** Adds to the columns outside the key. A row begins at zero, and is deleted when all sums are zero. */
  | { readonly op: 'add'; readonly table: string; readonly row: Row }
  /**
   * Inserts a row with the next number of its group: the key's last column is the number, from 1 on, and its other columns are the group.
   */
  | { readonly op: 'number'; readonly table: string; readonly row: Row };

export type Projection =
  /** Rows that follow from states: called once per stream and batch, for any number of events. */
  | { readonly name: string; readonly of: 'states'; project(moved: MovedBy): readonly RowChange[] }
  /** Rows of single events. */
  | { readonly name: string; readonly of: 'events'; project(seen: SeenEventOf): readonly RowChange[] }
  /** Rows of single events, including types that this version does not know. */
  | { readonly name: string; readonly of: 'records'; project(moved: MovedBy): readonly RowChange[] };

/** Read models with one subscription, one checkpoint, and one transaction per batch. */
export interface ProjectionSet {
  readonly name: string;
  /** Raise it with every change of the set's tables or rows: the set is then rebuilt beside the live one. */
  readonly version: number;
  readonly projections: readonly Projection[];
  /** Minimum events per commit of a rebuild. Default: 10,000. More are cheaper if most rows follow from states. */
  readonly rebuildBatch_events?: number;
  /** For people only: it may lag, and leaves the processor to the code that moves money. */
  readonly unhurried?: true;
  /** Channel to notify after a change of a table; numbered rows send `<group> <newest number>`. */
  readonly channels: Readonly<Record<string, string>>;
}

/** Requires every column; a nullable one may be undefined. */
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

/** Number column that applying fills in. */
type NumberOf<T extends keyof Tables> = TableKeys[T] & 'ordinal';

type Project<M> = (moved: M) => readonly RowChange[];

const isOf = <C extends ProjectedCategory>(moved: MovedBy, category: C): moved is MovedBy<C> =>
  moved.category === category;

export const ofStates = <C extends ProjectedCategory>(
  name: string,
  category: C,
  project: Project<MovedBy<C>>,
): Projection => ({
  name,
  of: 'states',
  project: (moved) => (isOf(moved, category) ? project(moved) : []),
});

export const ofRecords = <C extends ProjectedCategory>(
  name: string,
  category: C,
  project: Project<MovedBy<C>>,
): Projection => ({
  name,
  of: 'records',
  project: (moved) => (isOf(moved, category) ? project(moved) : []),
});

export const ofEvents = (name: string, project: Project<SeenEventOf>): Projection => ({ name, of: 'events', project });
