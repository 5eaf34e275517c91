import {
  assert,
  type Cause,
  type Decider,
  type Decision,
  type DomainEvent,
  isRefusal,
  personOf,
  type Refusal,
  refuse,
  type StoredEvent,
} from '../domain/decider.ts';
import { type Action, refuseRole } from '../domain/merchant/roles.ts';
import { merchant } from '../domain/merchant/state.ts';
import type { Instant } from '../domain/time.ts';
import { recentlyUsed } from '../src/lib/cache.ts';
import { ChainBroken, type Codec, linkOf, mustBeWhole, seal, type Tip, tipAfter, tipOf, verifyChain } from './codec.ts';
import { type Clock, type CrashPoint, type EventStore, type Ids, StreamConflict, Unavailable } from './ports.ts';

/** Known facts about a stream: enough to decide, and to append at exactly the next revision. */
interface Known<S> {
  readonly state: S;
  /** The stream's last event; null for a stream that does not exist. */
  readonly tip: Tip | null;
}

export interface Handled<S> {
  readonly state: S;
  readonly revision: bigint | null;
  /** Id of the stream's last event; null for a stream without events. */
  readonly lastEventId: string | null;
  /** Log position of the last appended event; null if nothing was appended. */
  readonly position: bigint | null;
  /** Stored time of the stream's last event; null for a stream without events. */
  readonly at: Instant | null;
  readonly appended: number;
}

/** Actor and request of a decision. */
export interface By {
  readonly cause: Cause;
  readonly requestId?: string;
}

export interface Facts extends By {
  readonly appId: string | null;
  /** Expects that the stream does not exist: decides from the initial state without reading. A conflict reads and decides again. */
  readonly expectNew?: boolean;
  /**
   * Id of the one appended event, never used before. A caller whose append ended without an answer recognizes its event by this id.
   */
  readonly eventId?: string;
  /**
   * Accepts a refusal or "already done" from this process's last known state, which may be stale. For checks that are repeated soon, or
   * decided again at an exact revision before they count.
   */
  readonly asKnown?: boolean;
}

/** How to load a stream: by reading, or from this process's last known state. */
export type Loaded = Pick<Facts, 'asKnown'>;

export type Handle = <S, E extends DomainEvent>(
  decider: Decider<S, E>,
  instance: string,
  decide: (state: S) => Decision<E>,
  facts: Facts,
) => Promise<Handled<S> | Refusal>;

export interface HandleDeps {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Codecs by category: they check written events and upcast read ones. */
  readonly codec: Codec;
  readonly crash?: CrashPoint;
  /** Minimum of remembered states; at most twice as many are kept. */
  readonly cachedStreams?: number;
}

const cachedStreamsDefault = 10_000;
const decisionsMax = 8;
const pageSize = 500;
/** Maximum events of a stream. Longer streams from before this bound are still read. */
export const eventsPerStreamMax = 20_000;
const eventsReadMax = 100_000;
const backoff_ms = 5;

/**
 * Load → decide → append at the exact revision → on conflict, again from a fresh read.
 *
 * States are cached per stream, but only a successful append proves a cached state right: a refusal or "already done" from the cache is
 * decided again after reading newer events.
 *
 * Crash between decide and append: nothing happened. Crash after the append: the decision is final, and the caller's next run finds it in
 * the stream.
 */
export function createHandle(deps: HandleDeps): Handle {
  const { store, clock, ids, codec } = deps;
  const crash = deps.crash ?? (() => {});
  const cache = recentlyUsed<Known<unknown>>(deps.cachedStreams ?? cachedStreamsDefault);

  return async (decider, instance, decide, facts) => {
    const stream = `${decider.category}-${instance}`;
    let known = cache.get(stream) as Known<ReturnType<typeof decider.evolve>> | undefined;
    let before: typeof known;
    let fresh = false;
    if (!known && facts.expectNew) known = { state: decider.initial, tip: null };

    for (let tries = 0; tries < decisionsMax; tries += 1) {
      if (!known) {
        known =
          (before && (await caughtUp(deps, decider, stream, before))) ?? (await loadStream(deps, decider, instance));
        fresh = true;
      }
      const decision = decide(known.state);
      if (isRefusal(decision) || decision.length === 0) {
        if (!fresh && !facts.asKnown) {
          before = known;
          known = undefined;
          continue;
        }
        remember(stream, known);
        if (isRefusal(decision)) return decision;
        const { state, tip } = known;
        const { revision = null, eventId: lastEventId = null, at = null } = tip ?? {};
        return { state, revision, lastEventId, position: null, at, appended: 0 };
      }
      if (isBeyond(decider, known.tip, decision.length)) return full(stream);
      for (const event of decision) codec.check(decider.category, event);
      const metadata = {
        at: clock.now(),
        cause: facts.cause,
        appId: facts.appId,
        schemaVersion: codec.schemaVersion(decider.category),
        ...(facts.requestId !== undefined && { requestId: facts.requestId }),
      };
      const sealed = seal(stream, known.tip, decision, metadata, idsFor(decision, facts.eventId) ?? ids);
      const lastEventId = sealed.at(-1)?.id ?? null;
      try {
        const names = decision.map((event) => event.type).join('+');
        await crash(`${names}.beforeAppend`);
        const appended = await store.append(stream, known.tip?.revision ?? 'no_stream', sealed);
        await crash(`${names}.afterAppend`);
        const state = decision.reduce((folded, event) => decider.evolve(folded, event), known.state);
        remember(stream, { state, tip: tipAfter(stream, known.tip, sealed) });
        const { revision, position } = appended;
        return { state, revision, lastEventId, position, at: metadata.at, appended: decision.length };
      } catch (error) {
        cache.delete(stream);
        if (!(error instanceof StreamConflict)) throw error;
        before = known;
        known = undefined;
        await clock.sleep(backoff_ms * tries);
      }
    }
    throw new Unavailable(`stream ${stream} is changed faster than it can be decided on: try again`);
  };

  function remember<S>(stream: string, known: Known<S>): void {
    if (known.tip === null) cache.delete(stream);
    else cache.set(stream, known);
  }
}

/** Gives the one decided event the caller's id; undefined if the caller has none. */
function idsFor(decision: readonly DomainEvent[], eventId: string | undefined): Pick<Ids, 'eventId'> | undefined {
  if (eventId === undefined) return undefined;
  assert(decision.length === 1, `an id for one event was given, ${decision.length} were decided`);
  return { eventId: () => eventId };
}

/** True if the stream would get too long to read; a stream with a window is never read as a whole. */
const isBeyond = ({ window }: Pick<Decider<never, never>, 'window'>, tip: Tip | null, appended: number): boolean =>
  window === undefined && (tip?.revision ?? -1n) + BigInt(appended) >= BigInt(eventsPerStreamMax);

const full = (stream: string): Refusal =>
  refuse('illegalStep', `${stream} has ${eventsPerStreamMax} events, as many as a stream takes: tell the operator`);

/** Reads the stream's current state and the time of its last change. */
export async function current<S, E extends DomainEvent>(
  handle: Handle,
  decider: Decider<S, E>,
  instance: string,
  how: Loaded = {},
): Promise<Handled<S>> {
  const handled = await handle(decider, instance, () => [], { cause: 'worker:read', appId: null, ...how });
  assert(!isRefusal(handled), 'to decide nothing is never refused');
  return handled;
}

export const currentState = async <S, E extends DomainEvent>(
  handle: Handle,
  decider: Decider<S, E>,
  instance: string,
  how: Loaded = {},
): Promise<S> => (await current(handle, decider, instance, how)).state;

type Reading = Pick<HandleDeps, 'codec'> & { readonly store: Pick<EventStore, 'read'> };

/** Reads and folds a stream; with a decider's `window`, only its last events. */
async function loadStream<S, E extends DomainEvent>(
  { store, codec }: Reading,
  decider: Decider<S, E>,
  instance: string,
): Promise<Known<S>> {
  const events = await readStream(
    store,
    `${decider.category}-${instance}`,
    decider.window === undefined ? {} : { window: decider.window },
  );
  const last = events.at(-1);
  return { state: folded(codec, decider, decider.initial, events), tip: last ? tipOf(last) : null };
}

/**
 * Reads a stream from its last known event on. That event, if its hash is equal, vouches for all earlier ones.
 * @returns undefined if the stream does not continue from there, or has more than one page of new events
 * @throws ChainBroken, Unavailable
 */
async function caughtUp<S, E extends DomainEvent>(
  { store, codec }: Reading,
  decider: Decider<S, E>,
  stream: string,
  { state, tip }: Known<S>,
): Promise<Known<S> | undefined> {
  if (tip === null || decider.window !== undefined) return undefined;
  const [seen, ...since] = await store.read(stream, { from: tip.revision, max: pageSize });
  if (seen === undefined || linkOf(seen) !== tip.link || since.length + 1 >= pageSize) return undefined;
  const broken = verifyChain(since, tip);
  if (broken) throw new ChainBroken(broken);
  return { state: folded(codec, decider, state, since), tip: tipOf(since.at(-1) ?? seen) };
}

const folded = <S, E extends DomainEvent>(
  codec: Codec,
  decider: Decider<S, E>,
  from: S,
  events: readonly StoredEvent[],
): S =>
  events.reduce((state, stored) => {
    const event = codec.read(stored);
    return event ? decider.evolve(state, event as E) : state;
  }, from);

/**
 * Events of a stream in order with a verified hash chain, read page by page: all of them; with `before`, those before that revision; with
 * `window`, the last ones.
 *
 * @throws ChainBroken, Unavailable
 */
export async function readStream(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { window, before }: { readonly window?: number; readonly before?: bigint } = {},
): Promise<readonly StoredEvent[]> {
  if (window !== undefined) {
    const last = [...(await store.read(stream, { backwards: true, max: window }))].reverse();
    // Fewer events than the window must be the whole stream: otherwise older events were hidden.
    mustBeWhole(last, last.length < window ? 'start' : 'anywhere');
    return last;
  }
  const wanted = before === undefined ? Number.POSITIVE_INFINITY : Number(before);
  const events: StoredEvent[] = [];
  while (events.length < wanted) {
    const max = Math.min(pageSize, wanted - events.length);
    const page = await store.read(stream, { from: BigInt(events.length), max });
    events.push(...page);
    if (page.length < max) break;
    assert(events.length < eventsReadMax, `stream ${stream} has over ${eventsReadMax} events`);
  }
  mustBeWhole(events, 'start');
  return events;
}

/**
 * Events of a stream, newest first, page by page; each is compared with the hash in its successor.
 * @throws ChainBroken, Unavailable
 */
export async function* readBackwards(
  store: Pick<EventStore, 'read'>,
  stream: string,
): AsyncGenerator<StoredEvent, void, undefined> {
  let newer: StoredEvent | undefined;
  for (;;) {
    const before = newer && { from: newer.revision - 1n };
    const page = await store.read(stream, { backwards: true, max: pageSize, ...before });
    mustBeWhole([...page.toReversed(), ...(newer ? [newer] : [])], 'anywhere');
    yield* page;
    newer = page.at(-1);
    if (!newer || newer.revision === 0n) return;
  }
}

// Check of a person's role before a command that changes another stream than the app's own.

/**
 * Refuses a person (cause `developer:…`) whose role in the app's team does not allow the action. Reads the app in the log only for people.
 * A removal that is appended after this read refuses the next command.
 */
export type RoleCheck = (appId: string, by: By, action: Action) => Promise<Refusal | undefined>;

export const createRoleCheck =
  (handle: Handle): RoleCheck =>
  async (appId, { cause }, action) =>
    personOf(cause) === null ? undefined : refuseRole(await currentState(handle, merchant, appId), cause, action);
