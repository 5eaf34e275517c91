/** Gives each event the states before and after it. */
import { assert, categoryOf, type Decider, type DomainEvent, type StoredEvent } from '../domain/decider.ts';
import { nextStep } from '../domain/payment/backing.ts';
import type { PaymentState } from '../domain/payment/state.ts';
import { type Category, categories, streams } from '../domain/streams.ts';
import { type WebhookTypesEvent, webhookTypes, webhookTypesInstance } from '../domain/webhook.ts';
import { type Introductions, type MovedBy, type SeenEventOf, unprojected } from './projection.ts';

export interface FoldDeps {
  /** The event in the current schema version; undefined for a type that this version does not know. */
  readonly read: (stored: StoredEvent) => DomainEvent | undefined;
  /** The stream's events before `revision`, in order. */
  readonly history: (stream: string, revision: bigint) => Promise<readonly StoredEvent[]>;
  /** Introductions in the log so far; later ones are added as they are read. */
  readonly introduced: Introductions;
  readonly statesMax?: StatesMax;
}

/** Maximum states in memory; other states are folded again from their streams. */
export interface StatesMax {
  /** Maximum while catching up, when events of concurrent payments are far apart in the log. */
  readonly behind: number;
  readonly live: number;
}

export interface Fold {
  /** Loads the states before these events, unless they are in memory. */
  prepare(events: readonly StoredEvent[]): Promise<void>;
  /** The event between its two states; undefined if no read model uses its stream. */
  see(stored: StoredEvent): SeenEventOf | Unknown | undefined;
  /** The batch is committed: the next one starts from its states. @param live whether the log's end is reached */
  keep(live: boolean): void;
  /** The batch failed: discards its states. */
  drop(): void;
}

/** An event of a type that this version does not know: it leaves its stream's state unchanged. */
export type Unknown = MovedBy & { readonly event: undefined };

interface Known {
  readonly revision: bigint;
  readonly state: unknown;
}

const isProjected = (category: Category): boolean => !(unprojected as readonly Category[]).includes(category);
const deciders: ReadonlyMap<string, Decider<unknown, never>> = new Map(
  categories.filter(isProjected).map((category) => [category, streams[category].decider]),
);
const statesMaxDefault: StatesMax = { behind: 50_000, live: 10_000 };
const readsAtOnce = 16;

/** States of streams in order of last use; only committed ones remain. */
export function createFold({ read, history, introduced, statesMax = statesMaxDefault }: FoldDeps): Fold {
  const introductions = new Map(introduced);
  const kept = new Map<string, Known>();
  const fresh = new Map<string, Known>();

  return {
    async prepare(events) {
      const missing: StoredEvent[] = [];
      const looked = new Set<string>();
      for (const event of events) {
        if (looked.has(event.stream)) continue;
        looked.add(event.stream);
        if (
          isFolded(deciderOf(event)) &&
          event.revision > 0n &&
          kept.get(event.stream)?.revision !== event.revision - 1n
        ) {
          missing.push(event);
        }
      }
      for (let done = 0; done < missing.length; done += readsAtOnce) {
        await Promise.all(missing.slice(done, done + readsAtOnce).map(reload));
      }
    },

    see(stored) {
      if (stored.stream === introductionsStream) {
        for (const [type, position] of introductionsIn([stored], read)) introductions.set(type, position);
      }
      const decider = deciderOf(stored);
      if (!decider) return undefined;
      if (!isFolded(decider)) return alone(stored, decider);
      const known = stored.revision === 0n ? undefined : (fresh.get(stored.stream) ?? kept.get(stored.stream));
      assert(
        stored.revision === (known?.revision ?? -1n) + 1n,
        `event ${stored.revision} of ${stored.stream} follows revision ${known?.revision ?? 'none'}: the log has a gap`,
      );
      const before = known ? known.state : decider.initial;
      const event = read(stored);
      const after = event ? decider.evolve(before, event as never) : before;
      fresh.set(stored.stream, { revision: stored.revision, state: after });
      const category = categoryOf(stored.stream);
      return { category, event, stored, before, after, introduced: introductions } as SeenEventOf | Unknown;
    },

    keep(live) {
      const most = live ? statesMax.live : statesMax.behind;
      for (const [stream, known] of fresh) {
        kept.delete(stream);
        if (!isOver(stream, known.state)) kept.set(stream, known);
      }
      fresh.clear();
      for (const oldest of kept.keys()) {
        if (kept.size <= most) break;
        kept.delete(oldest);
      }
    },

    drop: () => fresh.clear(),
  };

  function alone(stored: StoredEvent, { initial }: Decider<unknown, never>): SeenEventOf | Unknown {
    const category = categoryOf(stored.stream);
    const event = read(stored);
    return { category, event, stored, before: initial, after: initial, introduced: introductions } as
      | SeenEventOf
      | Unknown;
  }

  async function reload({ stream, revision }: StoredEvent): Promise<void> {
    const decider = deciders.get(categoryOf(stream));
    const events = await history(stream, revision);
    assert(BigInt(events.length) === revision, `stream ${stream} has ${events.length} events before ${revision}`);
    const state = events.reduce((folded, stored) => {
      const event = read(stored);
      return event && decider ? decider.evolve(folded, event as never) : folded;
    }, decider?.initial);
    kept.set(stream, { revision: revision - 1n, state });
  }
}

/** An account's event holds the account's state after it, so its rows need no folded states, at any stream length. */
const isFolded = (decider: Decider<unknown, never> | undefined): boolean =>
  decider !== undefined && decider.window === undefined;

const deciderOf = ({ stream }: StoredEvent): Decider<unknown, never> | undefined => deciders.get(categoryOf(stream));

/** Forgets a stream that expects no more events; a later event reads the stream again. */
const isOver = (stream: string, state: unknown): boolean => {
  if (stream.startsWith('payment-')) {
    const payment = state as PaymentState;
    return payment !== null && nextStep(payment, payment.terms.createdAt).do === 'done';
  }
  return stream.startsWith('webhook-') && (state as { stage: string }).stage !== 'started';
};

export const introductionsStream = `${webhookTypes.category}-${webhookTypesInstance}`;

/** @param events of the stream of introductions */
export const introductionsIn = (
  events: readonly StoredEvent[],
  read: (stored: StoredEvent) => DomainEvent | undefined,
): Introductions =>
  new Map(
    events.flatMap((stored) => {
      const event = read(stored) as WebhookTypesEvent | undefined;
      return event ? [[event.data.eventType, stored.position]] : [];
    }),
  );
