/** A seal on every event: whoever else may write to the log, what he writes is not believed. */
import { ChainBroken, linkOf } from '../../commands/codec.ts';
import { createHandle, type HandleDeps, readStream } from '../../commands/handle.ts';
import type { EventStore } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { beginSealing, sealing, sealingInstance } from '../../domain/sealing.ts';
import type { Seals } from '../security/seals.ts';

export interface Sealing {
  readonly seals: Seals;
  /** Position where seals began; it is asked before each use. @throws Unavailable */
  readonly begun: () => bigint | Promise<bigint>;
  /** Told of each event that is not ours, perhaps more than once. */
  readonly tell: (broken: ChainBroken) => void;
}

/**
 * The same store, where every event that is appended gets a seal, and only sealed ones are believed: a read that meets another throws, a
 * subscription leaves it out, so that nobody's events hold up those of others.
 *
 * A seal covers stream, revision, id, type, data, metadata and the predecessor's link: it cannot be moved to another place.
 */
export function sealedStore(store: EventStore, sealed: Sealing): EventStore {
  const { seals, tell } = sealed;

  function brokenAt(stored: StoredEvent, begun: bigint): ChainBroken | null {
    const { stream, revision, position, metadata } = stored;
    const seal = typeof metadata === 'object' ? metadata?.seal : undefined;
    if (seal === undefined && position < begun) return null;
    const expected = `a seal of key ${seals.keyId}`;
    if (typeof seal !== 'string') return new ChainBroken({ stream, revision, expected, found: 'none' });
    if (seals.isSealOf(linkOf(stored), seal)) return null;
    const other = /^[0-9a-f]{8}(?=\.)/.exec(seal)?.[0];
    const found = other === undefined || other === seals.keyId ? 'a false one' : `one of key ${other}`;
    return new ChainBroken({ stream, revision, expected, found });
  }

  function refuse(broken: ChainBroken): never {
    tell(broken);
    throw broken;
  }

  return {
    async append(stream, expected, events) {
      await sealed.begun();
      const first = expected === 'no_stream' ? 0n : expected + 1n;
      const appended = await store.append(
        stream,
        expected,
        events.map((event, index) => {
          const link = linkOf({ ...event, stream, revision: first + BigInt(index) });
          return { ...event, metadata: { ...event.metadata, seal: seals.sealOf(link) } };
        }),
      );
      // A stream that somebody deleted takes a first event, and goes on counting where it ended.
      const { revision } = appended;
      if (revision !== first + BigInt(events.length) - 1n)
        refuse(
          new ChainBroken({ stream, revision, expected: `revision ${first} behind an append`, found: 'a later one' }),
        );
      return appended;
    },

    async read(stream, options) {
      const events = await store.read(stream, options);
      const begun = await sealed.begun();
      for (const event of events) {
        const broken = brokenAt(event, begun);
        if (broken) refuse(broken);
      }
      return events;
    },

    async *all(options) {
      const begun = await sealed.begun();
      for await (const batch of store.all(options)) {
        const events = batch.events.filter((event) => {
          const broken = brokenAt(event, begun);
          if (broken) tell(broken);
          return broken === null;
        });
        yield { ...batch, events };
      }
    },

    tail: () => store.tail(),
  };
}

interface Beginning extends Pick<Sealing, 'seals' | 'tell'> {
  readonly deciding: Omit<HandleDeps, 'store' | 'crash'>;
}

const beginning = `${sealing.category}-${sealingInstance}`;
/** Behind every position of a log. */
const never = 2n ** 64n;

/** What says where seals begin must itself be sealed. */
const strict = (store: EventStore, { seals, tell }: Pick<Sealing, 'seals' | 'tell'>): EventStore =>
  sealedStore(store, { seals, tell, begun: () => 0n });

/** Where seals began in this log. @throws Unavailable; ChainBroken when it was sealed with another key */
export async function sealsBegan(store: EventStore, sealed: Pick<Sealing, 'seals' | 'tell'>): Promise<bigint> {
  const [first] = await readStream(strict(store, sealed), beginning);
  return first?.position ?? never;
}

/** Opens one store with seals; they begin here and now when no version before sealed. Which may have to wait until the store is there. */
export function withSeals<S extends EventStore & { readonly workers: EventStore }>(
  store: S,
  { seals, tell, deciding }: Beginning,
): S & { readonly sealed: () => Promise<bigint> } {
  const { keyId } = seals;
  let known: bigint | null = null;
  let asked: Promise<bigint> | null = null;

  async function ask(): Promise<bigint> {
    const handle = createHandle({ ...deciding, store: strict(store.workers, { seals, tell }) });
    const facts = { cause: 'worker:sealing', appId: null } as const;
    await handle(sealing, sealingInstance, (begunWith) => beginSealing(begunWith, keyId), facts);
    known = await sealsBegan(store.workers, { seals, tell });
    return known;
  }
  function begun(): bigint | Promise<bigint> {
    if (known !== null) return known;
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  }
  const sealed = { seals, tell, begun };
  return {
    ...store,
    ...sealedStore(store, sealed),
    workers: sealedStore(store.workers, sealed),
    sealed: async () => begun(),
  };
}
