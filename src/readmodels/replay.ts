/**
 * Fills read models as of a moment into a separate schema. Appends, notifies, sends and signs nothing, and does not touch the live ones.
 */
import { ChainBroken, type Codec, linkOf, streamPrefixes, type Tip, tipOf, verifyChain } from '../../commands/codec.ts';
import { type EventStore, knownEvent } from '../../commands/ports.ts';
import { type AsOf, upTo } from '../../domain/asOf.ts';
import { categoryOf, type Decider, type StoredEvent } from '../../domain/decider.ts';
import { type Category, streams } from '../../domain/streams.ts';
import type { EventBatch } from '../../projections/commit.ts';
import type { Generation, SetDdl } from '../../projections/generations.ts';
import { advanceReplay, finishReplay, openReplay, type Replay, replayedSet } from '../../projections/replays.ts';
import { projectionSets } from '../../projections/sets.ts';
import { ddlOf } from '../postgres/migrate.ts';
import { batchSizes, committer, follow, type ProjectionDeps } from './projections.ts';
import type { RebuildProgress } from './rebuild.ts';

export interface ReplayDeps extends Omit<ProjectionDeps, 'set' | 'move'> {
  readonly into: string;
  /** Null for the whole log. */
  readonly until: AsOf | null;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

/**
 * A time ends before the first later event of the log, whatever the clocks say about the events after it.
 *
 * Crash anywhere: rows and checkpoint are committed together, and another run continues after the last batch.
 *
 * @throws NoReplay, PoisonEvent, FenceLost (another replay fills the schema), Unavailable
 */
export async function replay(deps: ReplayDeps): Promise<Replay> {
  const { database, store, signal, into, until, onProgress = () => {} } = deps;
  const ddl = await wholeDdl();
  const opened = await openReplay(database, into, until, ddl);
  let at: Generation = opened;
  const commit = await committer({ ...deps, set: replayedSet, move: advanceReplay }, at);
  const end = await store.tail();
  const tail = until && 'position' in until && until.position < end ? until.position : end;

  const options = { after: at.position, prefixes: streamPrefixes, ...batchSizes, signal };
  for await (const batch of follow(store, options)) {
    const { whole, ...cut } = cutAt(batch, until, at.position);
    if (cut.position !== null) at = await commit(at, { events: cut.events, position: cut.position });
    onProgress({ events: at.events, position: at.position ?? 0n, tail });
    if (!whole || batch.live) return await finishReplay(database, opened, ddl.indexes);
  }
  signal.throwIfAborted();
  throw new Error('a subscription ends only when its signal aborts');
}

/**
 * @param from current position of the rows; null before the first event. @returns the events up to the moment, and whether the moment is
 * reached
 */
function cutAt(batch: EventBatch, until: AsOf | null, from: bigint | null) {
  if (until === null) return { ...batch, whole: true };
  const events = upTo(batch.events, until);
  if ('position' in until) {
    const whole = batch.position < until.position;
    return { events, position: whole ? batch.position : until.position, whole };
  }
  const whole = events.length === batch.events.length;
  return { events, position: whole ? batch.position : (events.at(-1)?.position ?? from), whole };
}

async function wholeDdl(): Promise<SetDdl> {
  const parts = await Promise.all(projectionSets.map(({ name }) => ddlOf(name)));
  return {
    tables: parts.map(({ tables }) => tables).join('\n'),
    indexes: parts.map(({ indexes }) => indexes).join('\n'),
  };
}

// One stream, event by event, with the changes of each.

export interface StreamStep {
  readonly stored: StoredEvent;
  /** Hash that the next event holds of it. */
  readonly link: string;
  /** False for an event of a type that this version does not know: it changes nothing. */
  readonly known: boolean;
  readonly changes: readonly LeafChange[];
  /** State after the event as JSON: big numbers are texts, and secrets are omitted. */
  readonly state: ReplayedJson;
}

/** Null: absent. */
export interface LeafChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
}

export type ReplayedJson =
  | string
  | number
  | boolean
  | null
  | readonly ReplayedJson[]
  | { readonly [name: string]: ReplayedJson };

const pageSize = 500;

interface Deps {
  readonly store: Pick<EventStore, 'read'>;
  readonly codec: Pick<Codec, 'read'>;
}

/**
 * Page by page, with its hash chain checked: even of a long stream only a page and one state are in memory.
 * @param until null for the whole stream
 * @throws ChainBroken, Unavailable; Error for a name of no category
 */
export async function* replayStream(
  { store, codec }: Deps,
  stream: string,
  until: AsOf | null,
): AsyncGenerator<StreamStep> {
  const decider = deciderOf(stream);
  let [state, plain, tip]: [unknown, ReplayedJson, Tip | null] = [decider.initial, plainOf(decider.initial), null];
  for (;;) {
    const page = await store.read(stream, { from: (tip?.revision ?? -1n) + 1n, max: pageSize });
    const broken = verifyChain(page, tip);
    if (broken) throw new ChainBroken(broken);
    const wanted = until ? upTo(page, until) : page;
    for (const stored of wanted) {
      const event = knownEvent(stored, codec.read);
      if (event) state = decider.evolve(state, event as never);
      const next: ReplayedJson = event ? plainOf(state) : plain;
      yield { stored, link: linkOf(stored), known: event !== undefined, changes: changesOf(plain, next), state: next };
      plain = next;
    }
    const last = page.at(-1);
    if (!last || wanted.length < page.length || page.length < pageSize) return;
    tip = tipOf(last);
  }
}

function deciderOf(stream: string): Decider<unknown, never> {
  const category = categoryOf(stream);
  if (!Object.hasOwn(streams, category) || stream === category)
    throw new Error(
      `${stream} is no stream's name: it is <category>-<id>, with one of ${Object.keys(streams).join(', ')}`,
    );
  return streams[category as Category].decider;
}

/** Secret fields, encrypted or not: the output may be seen by others. */
const secret = /^(idSalt|webhookSecret|ciphertext|formerKeys)$/;
const hidden = '(a secret)';

const plainOf = (state: unknown): ReplayedJson =>
  JSON.parse(
    JSON.stringify(state, (name, value: unknown) => {
      if (value !== null && secret.test(name)) return hidden;
      if (typeof value === 'bigint') return value.toString();
      if (value instanceof Map) return Object.fromEntries(value);
      return value instanceof Set ? [...value] : value;
    }) ?? 'null',
  );

function changesOf(before: ReplayedJson, after: ReplayedJson): readonly LeafChange[] {
  const [was, is] = [leaves(before), leaves(after)];
  const fields = [...new Set([...was.keys(), ...is.keys()])];
  return fields.flatMap((field) => {
    const change = { field, before: was.get(field) ?? null, after: is.get(field) ?? null };
    return change.before === change.after ? [] : [change];
  });
}

/** Leaf values with paths like `payins[0].phase`. An empty container counts as a leaf. */
function leaves(value: ReplayedJson, path = '', into = new Map<string, string>()): ReadonlyMap<string, string> {
  if (value === null) return into;
  if (typeof value !== 'object') return into.set(path, String(value));
  for (const [name, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${name}]` : path === '' ? name : `.${name}`;
    leaves(inner as ReplayedJson, `${path}${step}`, into);
  }
  return into;
}
