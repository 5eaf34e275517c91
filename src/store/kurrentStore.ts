/** The event store through `@kurrent/kurrentdb-client`, an optional package. Only the package's public functions are called. */
import * as modules from 'node:module';
import type * as library from '@kurrent/kurrentdb-client';
import type { AllStreamSubscription, KurrentDBClient, RecordedEvent } from '@kurrent/kurrentdb-client';
import { type SealedEvent, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { type StoreAddress, storeAddress } from './address.ts';
import {
  type AllOptions,
  type Append,
  type AppendedAt,
  NoClient,
  type OpenCalls,
  type ReadQuery,
  type Subscriber,
  type SubscriptionFlow,
  type SubscriptionNews,
} from './calls.ts';
import { type EventStoreOptions, type OpenEventStore, openEventStore } from './client.ts';
import { lastOfAll } from './connection.ts';
import { NoLeader } from './failures.ts';
import { within } from './read.ts';

export type Library = typeof library;

export const kurrentPackage = '@kurrent/kurrentdb-client';

const generated = `/${kurrentPackage}/generated/`;
const globalNames = /\bproto\.(?!google\.protobuf)/g;

let loaded: Promise<Library> | undefined;

/**
 * The generated messages of both clients define the same global names (`proto.event_store…`), and the later ones break the earlier ones. A
 * module hook renames those of this package while it is loaded.
 * @throws NoClient
 */
export function loadKurrentClient(name: string = kurrentPackage): Promise<Library> {
  if (name !== kurrentPackage) return load(name);
  loaded ??= load(name);
  return loaded;
}

async function load(name: string): Promise<Library> {
  if (!('registerHooks' in modules)) throw new NoClient('EVENTSTORE_CLIENT=kurrentdb needs Node 22.15 or later');
  const hooks = modules.registerHooks({
    load(url, context, next) {
      const module = next(url, context);
      if (!url.includes(generated)) return module;
      return { ...module, source: String(module.source).replace(globalNames, 'proto.kurrent_client.') };
    },
  });
  try {
    return (await import(name)) as Library;
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    const remedy = `install it with npm install --no-save ${kurrentPackage}@1.3.1, or remove EVENTSTORE_CLIENT`;
    throw new NoClient(`EVENTSTORE_CLIENT=kurrentdb needs the package ${name} (${reason}): ${remedy}`, {
      cause: error,
    });
  } finally {
    hooks.deregister();
  }
}

/**
 * Appends in flight, of requests and of workers: 15 in total. With a 16th the package waits until its connection can write, and a
 * connection that breaks during this wait rejects a promise that nobody handles, which would end the process.
 */
export const kurrentLimits = {
  requests: { inFlight: 11, queued: 2_000, wait_ms: 5_000, away_ms: 3_000 },
  workers: { inFlight: 4, queued: 10_000, wait_ms: 20_000, away_ms: 20_000 },
};

/**
 * Opens the event store over the package, with the duties of `openEventStore`.
 * @throws NoClient; RangeError for an unusable address, without secrets
 */
export async function openKurrentStore(options: Omit<EventStoreOptions, 'calls'>): Promise<OpenEventStore> {
  return kurrentStoreOver(await loadKurrentClient(), options);
}

export function kurrentStoreOver(library: Library, options: Omit<EventStoreOptions, 'calls'>): OpenEventStore {
  const calls = kurrentCalls(library, kurrentUrl(options.url));
  return openEventStore({ ...kurrentLimits, ...options, calls });
}

/** The package resolves a name after one interval, also that of a single node. */
const defaults = { keepAliveInterval: 10_000, keepAliveTimeout: 3_000, discoveryInterval: 50 };

/**
 * EVENTSTORE_URL in the form that both parts of the package parse: its gRPC client and its native bridge. Some options are omitted: all
 * calls need the leader, refused appends are errors, and the parts may disagree on the unit of `gossipTimeout`.
 * @throws RangeError
 */
export function kurrentUrl(url: string): string {
  const { hosts, discover, socket, user, options } = namedAddress(url);
  if (socket !== null)
    throw new RangeError(
      'EVENTSTORE_CLIENT=kurrentdb reaches no embedded event store: name a server in EVENTSTORE_URL',
    );
  if (hosts.some(({ address }) => address.includes(':')))
    throw new RangeError('EVENTSTORE_CLIENT=kurrentdb takes no IPv6 address in EVENTSTORE_URL: use a host name');
  const { nodePreference: _any, throwOnAppendFailure: _thrown, gossipTimeout: _unclear, ...known } = options;
  const query = Object.entries({ ...defaults, ...known })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURI(String(value)).replace(/[?&#]/g, encodeURIComponent)}`);
  const login = user && `${encodeURIComponent(user.username)}:${encodeURIComponent(user.password)}@`;
  const nodes = hosts.map(({ address, port }) => `${address}:${port}`).join(',');
  return `kurrentdb${discover ? '+discover' : ''}://${login ?? ''}${nodes}?${query.join('&')}`;
}

function namedAddress(url: string): StoreAddress {
  try {
    return storeAddress(url);
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(`EVENTSTORE_URL ${error.message}`) : error;
  }
}

const isInvalid = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === invalidArgument;

const typeOf = (error: unknown): unknown => (error as { type?: unknown } | null)?.type;

/** The server refuses a position of the log. The name is the one that the server's other answers have (failures.ts). */
class InvalidPosition extends Error {
  override readonly name = 'InvalidPosition';
}

/** The server's status for a position at which no record of its log begins. */
const invalidArgument = 3;
/** A server before 24.2 says nothing to a subscription that it accepts. */
const accepted_ms = 3_500;
/** Minimum time between two subscriptions that only find the reason of an outage. */
const diagnosis_ms = 60_000;
/** Maximum wait for the read before a subscription. */
const answer_ms = 5_000;

const at = (position: bigint) => ({ commit: position, prepare: position });

function kurrentCalls(library: Library, url: string): OpenCalls {
  const { KurrentDBClient, streamNameFilter, START, END, FORWARDS, BACKWARDS } = library;
  const { convertToCommandError, ErrorType, WrongExpectedVersionError } = library;
  const requiresLeader = true;

  return (heard) => {
    /** The package leaves some errors without a type: no node knows a leader, or the first call of a connection fails. */
    function typed(error: unknown): unknown {
      if (!(error instanceof Error) || typeOf(error) !== undefined) return error;
      if (error.message.startsWith('Failed to discover')) return new NoLeader(error.message);
      return 'code' in error && 'details' in error ? convertToCommandError(error) : error;
    }

    /** Appends and subscriptions. */
    let client: KurrentDBClient | null = null;
    /** Reads, over the native bridge. A bridge that has failed to connect a few times never connects again. */
    let reader: KurrentDBClient | null = null;
    let away: { readonly reason: unknown; readonly at_ms: number } | null = null;
    /** Ends of the pending calls. */
    const pending = new Set<(error: Error) => void>();

    let isClosed = false;

    function connect(): KurrentDBClient {
      if (isClosed) throw new Unavailable('the connection to the event store was closed');
      return KurrentDBClient.connectionString(url);
    }

    function current(): KurrentDBClient {
      client ??= connect();
      return client;
    }

    function currentReader(): KurrentDBClient {
      reader ??= connect();
      return reader;
    }

    /** Ends with the connection: the package leaves some calls pending. */
    function untilLeft<T>(work: Promise<T>): Promise<T> {
      const { promise: left, reject } = Promise.withResolvers<never>();
      pending.add(reject);
      return Promise.race([work, left]).finally(() => pending.delete(reject));
    }

    async function append({ stream, expected, events }: Append): Promise<AppendedAt> {
      try {
        const options = { streamState: expected, requiresLeader } as const;
        const { nextExpectedRevision, position } = await current().appendToStream(
          stream,
          events.map(proposed),
          options,
        );
        return { revision: nextExpectedRevision, position: position?.commit ?? null };
      } catch (error) {
        // The older package's name of the same field, which failures.ts reads.
        if (error instanceof WrongExpectedVersionError)
          throw Object.assign(error, { actualVersion: error.actualState });
        throw typed(error);
      } finally {
        heard();
      }
    }

    function records(by: KurrentDBClient, { stream, from, backwards, max, prefixes }: ReadQuery) {
      const end = backwards ? END : START;
      const options = { direction: backwards ? BACKWARDS : FORWARDS, maxCount: max, requiresLeader } as const;
      if (stream !== null) return by.readStream(stream, { ...options, fromRevision: from ?? end });
      const filter = prefixes && { filter: streamNameFilter({ prefixes: [...prefixes] }) };
      return by.readAll({ ...options, ...filter, fromPosition: from === undefined ? end : at(from) });
    }

    async function attempt(wanted: ReadQuery, isOver: () => boolean): Promise<readonly StoredEvent[]> {
      const by = currentReader();
      const read: StoredEvent[] = [];
      try {
        for await (const { event } of records(by, wanted)) {
          heard();
          if (isOver()) break;
          if (event) read.push(storedEvent(event));
        }
      } catch (error) {
        if (typeOf(error) === ErrorType.UNAVAILABLE && reader === by) reader = null;
        if (typeOf(error) !== ErrorType.STREAM_NOT_FOUND) throw error;
      }
      heard();
      away = null;
      return read;
    }

    /**
     * The bridge reports most failures as "unavailable", without a reason: a lost connection, an untrusted certificate, a position that the
     * log does not have, a damaged record. A subscription reports the reason.
     */
    async function collect(wanted: ReadQuery, isOver: () => boolean): Promise<readonly StoredEvent[]> {
      try {
        return await attempt(wanted, isOver);
      } catch (error) {
        const type = typeOf(error);
        if (type === ErrorType.ACCESS_DENIED) throw (await refusalAt(null)) ?? error;
        if (type !== ErrorType.UNAVAILABLE) throw error;
        await attempt(lastOfAll, isOver).catch(async (again: unknown) => {
          throw await reasonOf(again);
        });
        return await readAgain(wanted, isOver);
      }
    }

    /** The store answers another read: either the connection was lost, or the server refuses this read. */
    async function readAgain(wanted: ReadQuery, isOver: () => boolean): Promise<readonly StoredEvent[]> {
      const { stream, from } = wanted;
      if (stream === null && from !== undefined && isInvalid(await refusalAt(from)))
        throw new InvalidPosition(`InvalidPosition: the log has no record at ${from}`);
      return attempt(wanted, isOver).catch((cause: unknown) => {
        if (typeOf(cause) !== ErrorType.UNAVAILABLE) throw cause;
        const read = `but not a read of ${stream ?? 'the log'}`;
        throw new Unavailable(`the event store answers, ${read}: its data may be damaged`, 1, { cause });
      });
    }

    /** Each failed subscription leaves a connection that tries to reconnect, so a long outage causes one a minute. */
    async function reasonOf(error: unknown): Promise<unknown> {
      if (typeOf(error) !== ErrorType.UNAVAILABLE) return error;
      if (away === null || performance.now() - away.at_ms > diagnosis_ms)
        away = { reason: (await refusalAt(null)) ?? error, at_ms: performance.now() };
      return away.reason;
    }

    /** @returns the error of a subscription that begins there, or null if the server accepts it */
    async function refusalAt(position: bigint | null): Promise<unknown> {
      const fromPosition = position === null ? END : at(position);
      const subscription = current().subscribeToAll({ requiresLeader, fromPosition });
      try {
        return await new Promise((resolve) => {
          const accepted = setTimeout(() => resolve(null), accepted_ms);
          const settle = (outcome: unknown): void => {
            clearTimeout(accepted);
            resolve(outcome === null ? null : typed(outcome));
          };
          subscription
            .on('error', settle)
            .on('end', () => settle(null))
            .on('data', () => settle(null))
            .on('caughtUp', () => settle(null));
        });
      } finally {
        void subscription.unsubscribe().catch(() => {});
      }
    }

    function read(wanted: ReadQuery) {
      let isOver = false;
      return {
        events: untilLeft(collect(wanted, () => isOver)),
        cancel() {
          isOver = true;
        },
      };
    }

    async function subscribe(
      { after, prefixes }: AllOptions,
      window: number,
      subscriber: Subscriber,
    ): Promise<SubscriptionFlow> {
      // The package keeps a connection for each subscription that fails, so a store that is away gets none.
      await within(read(lastOfAll).events, answer_ms, 'reading the last event');
      let checkpointReached = (_: AllStreamSubscription, _at: { commit: bigint }): void => {};
      const subscription = current().subscribeToAll({
        requiresLeader,
        fromPosition: after === null ? START : at(after),
        filter: streamNameFilter({
          prefixes: [...prefixes],
          maxSearchWindow: window,
          checkpointInterval: 1,
          checkpointReached: (from, position) => checkpointReached(from, position),
        }),
      });
      const fail = (error: unknown): void => {
        pending.delete(fail);
        subscriber.failed(typed(error));
      };
      pending.add(fail);
      const said = inOrder(subscription, subscriber);
      checkpointReached = (_, { commit }) => said({ checkpoint: commit });
      subscription
        .on('confirmation', () => said({ confirmed: true }))
        .on('caughtUp', () => said({ caughtUp: true }))
        .on('error', fail)
        .on('end', () => fail(new Error('the server ended it')));
      return {
        get isEmpty() {
          return subscription.readableLength === 0;
        },
        resume() {
          if (subscription.isPaused()) subscription.resume();
        },
        cancel() {
          pending.delete(fail);
          void subscription.unsubscribe().catch(() => {});
        },
      };
    }

    /** The package has no function that closes a connection. An idle one does not keep the process running. */
    async function leave(): Promise<void> {
      const left = client;
      client = null;
      reader = null;
      for (const fail of [...pending]) fail(new Unavailable('the connection to the event store was closed'));
      pending.clear();
      await left?.dispose();
    }

    async function close(): Promise<void> {
      isClosed = true;
      await leave();
    }

    return { append: (wanted) => untilLeft(append(wanted)), read, subscribe, drop: () => void leave(), close };
  };
}

/**
 * The package announces checkpoints, and that a subscription has caught up, before a consumer has received the events that precede them.
 * Each announcement waits for these events.
 * @returns receives the announcements
 */
export function inOrder(subscription: AllStreamSubscription, subscriber: Subscriber): (news: SubscriptionNews) => void {
  const waiting: { readonly due: number; news: SubscriptionNews }[] = [];
  let delivered = 0;

  function deliver(news: StoredEvent | SubscriptionNews): void {
    if (!subscriber.said(news)) subscription.pause();
  }
  subscription.on('data', ({ event }) => {
    delivered += 1;
    if (event) deliver(storedEvent(event));
    for (let [next] = waiting; next && next.due <= delivered; [next] = waiting) {
      waiting.shift();
      deliver(next.news);
    }
  });

  return (news) => {
    const due = delivered + subscription.readableLength;
    const last = waiting.at(-1);
    if (due === delivered) deliver(news);
    else if (last?.due === due) last.news = { ...last.news, ...news };
    else waiting.push({ due, news });
  };
}

const proposed = ({ id, type, data, metadata }: SealedEvent) => ({
  ...{ id, type, contentType: 'application/json' as const },
  data: data as Record<string, unknown>,
  metadata: metadata as unknown as Record<string, unknown>,
});

function storedEvent({ streamId, revision, position, id, type, data, metadata }: Recorded): StoredEvent {
  return {
    ...{ stream: streamId, revision, position: position?.commit ?? 0n, id, type, data },
    metadata: readable(metadata) as StoredEvent['metadata'],
  };
}

type Recorded = RecordedEvent & { readonly position?: { readonly commit: bigint } | undefined };

/** Foreign events may have metadata that is no JSON: its text is passed on. */
const readable = (metadata: unknown): unknown =>
  metadata instanceof Uint8Array ? Buffer.from(metadata).toString('utf8') : metadata;
