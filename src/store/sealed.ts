/** A seal on every event: whoever else may write to the log, what he writes is not believed. */
import { ChainBroken, linkOf } from '../../commands/codec.ts';
import { createHandle, type HandleDeps, readStream } from '../../commands/handle.ts';
import { type EventStore, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { beginSealing, type KeyChange, sealing, sealingInstance } from '../../domain/sealing.ts';
import { createSeals, type FormerKey, formerKeyOf, type KeptKey, openFormer, type Seals } from '../security/seals.ts';

export interface Sealing {
  /** It is asked before each use. @throws Unavailable */
  readonly trust: () => Trust | Promise<Trust>;
  /** Told of each event that is not ours, perhaps more than once. */
  readonly tell: (broken: ChainBroken) => void;
}

/** Which seals are believed where in the log. */
export interface Trust {
  /** Makes new ones. */
  readonly seals: Seals;
  /** Position where seals began. */
  readonly begun: bigint;
  /** Oldest first; each is good up to the event that changed it. */
  readonly former: readonly (FormerKey & { readonly kept: KeptKey; readonly until: bigint })[];
  /** The last change; null when there was none. */
  readonly change: { readonly data: KeyChange; readonly finished: boolean } | null;
}

const sealsAt = ({ seals, former }: Trust, position: bigint): Seals =>
  former.find(({ until }) => position <= until)?.seals ?? seals;

function brokenAt(stored: StoredEvent, trust: Trust): ChainBroken | null {
  const { stream, revision, position, metadata } = stored;
  const seal = typeof metadata === 'object' ? metadata?.seal : undefined;
  if (seal === undefined && position < trust.begun) return null;
  const seals = sealsAt(trust, position);
  const expected = `a seal of key ${seals.keyId}`;
  if (typeof seal !== 'string') return new ChainBroken({ stream, revision, expected, found: 'none' });
  if (seals.isSealOf(linkOf(stored), seal)) return null;
  const other = /^[0-9a-f]{8}(?=\.)/.exec(seal)?.[0];
  const found = other === undefined || other === seals.keyId ? 'a false one' : `one of key ${other}`;
  return new ChainBroken({ stream, revision, expected, found });
}

/**
 * The same store, where every event that is appended gets a seal, and only sealed ones are believed: a read that meets another throws, a
 * subscription leaves it out, so that nobody's events hold up those of others.
 *
 * A seal covers stream, revision, id, type, data, metadata and the predecessor's link: it cannot be moved to another place.
 */
export function sealedStore(store: EventStore, sealed: Sealing): EventStore {
  const { tell } = sealed;

  function refuse(broken: ChainBroken): never {
    tell(broken);
    throw broken;
  }

  return {
    async append(stream, expected, events) {
      const { seals } = await sealed.trust();
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
      const trust = await sealed.trust();
      for (const event of events) {
        const broken = brokenAt(event, trust);
        if (broken) refuse(broken);
      }
      return events;
    },

    async *all(options) {
      const trust = await sealed.trust();
      for await (const batch of store.all(options)) {
        const events = batch.events.filter((event) => {
          const broken = brokenAt(event, trust);
          if (broken) tell(broken);
          return broken === null;
        });
        yield { ...batch, events };
      }
    },

    tail: () => store.tail(),
    lastEvent: (prefixes, after) => store.lastEvent(prefixes, after),
    eventAt: (position) => store.eventAt(position),
  };
}

type Believing = Pick<Sealing, 'tell'> & { readonly masterKey: Uint8Array };

interface Beginning extends Believing {
  readonly deciding: Omit<HandleDeps, 'store' | 'crash'>;
}

export const sealingStream = `${sealing.category}-${sealingInstance}`;
/** Behind every position of a log. */
const never = 2n ** 64n;

/** The secrets that the former key encrypted are not all under the new one. */
export class KeyChangeUnfinished extends Error {
  override readonly name = 'KeyChangeUnfinished';
  constructor({ keyId, formerKeyId }: KeyChange) {
    super(
      `the change of the master key (seals of key ${formerKeyId} to ${keyId}) stopped half-way: run \`npm run rotate-master-key\` again with the same MASTER_KEY and MASTER_KEY_OLD, then start`,
    );
  }
}

/**
 * Which seals are believed in this log. What says so must itself be sealed: each change by the key before it, and the last one opens with
 * the master key alone, which gives all former keys.
 *
 * @throws Unavailable; ChainBroken when the log was sealed with another key, or a change is not ours
 */
export async function trustIn(store: EventStore, { masterKey, tell }: Believing): Promise<Trust> {
  const events = await readStream(store, sealingStream);
  const changes = events.filter(({ type }) => type === 'SealingKeyChanged');
  const seals = createSeals(masterKey);
  const ours = changes.findLastIndex(({ data }) => (data as KeyChange).keyId === seals.keyId);
  const opened = ours < 0 ? null : openFormer(masterKey, changes[ours]?.data as KeyChange);
  // A change that the master key does not open gives no former key: then the first event that is not under this key is refused.
  const kept = opened?.length === ours + 1 ? opened : [];
  const former = kept.map((key, index) => ({ ...formerKeyOf(key), kept: key, until: changes[index]?.position ?? -1n }));
  const data = changes.at(-1)?.data as KeyChange | undefined;
  const finished = events.at(-1)?.type === 'SealingKeyChangeFinished';
  const trust = { seals, begun: 0n, former, change: data ? { data, finished } : null };
  for (const event of events) {
    const broken = brokenAt(event, trust);
    if (broken === null) continue;
    tell(broken);
    throw broken;
  }
  return { ...trust, begun: events[0]?.position ?? never };
}

/**
 * Opens one store with seals; they begin here and now when no version before sealed. Which may have to wait until the store is there:
 * `sealed` says why the log cannot be believed, `formerKeys` throws Unavailable until it is known.
 */
export function withSeals<S extends EventStore & { readonly workers: EventStore }>(
  store: S,
  { masterKey, tell, deciding }: Beginning,
): S & { readonly sealed: () => Promise<Trust>; readonly formerKeys: () => readonly FormerKey[] } {
  let known: Trust | null = null;
  let asked: Promise<Trust> | null = null;

  async function ask(): Promise<Trust> {
    const found = await trustIn(store.workers, { masterKey, tell });
    if (found.change && !found.change.finished) throw new KeyChangeUnfinished(found.change.data);
    // What is written before seals begin is the event with which they do.
    const strict = sealedStore(store.workers, { tell, trust: () => ({ ...found, begun: 0n }) });
    const handle = createHandle({ ...deciding, store: strict });
    const facts = { cause: 'worker:sealing', appId: null } as const;
    await handle(sealing, sealingInstance, (inForce) => beginSealing(inForce, found.seals.keyId), facts);
    known = await trustIn(store.workers, { masterKey, tell });
    return known;
  }
  function trust(): Trust | Promise<Trust> {
    if (known !== null) return known;
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  }
  /** What the log cannot tell yet, or tells of itself as a whole, is no failure of whose work meets it. @throws Unavailable */
  async function inUse(): Promise<Trust> {
    try {
      return await trust();
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      throw new Unavailable((error as Error).message, undefined, { cause: error });
    }
  }
  const sealed = { tell, trust: () => known ?? inUse() };
  return {
    ...store,
    ...sealedStore(store, sealed),
    workers: sealedStore(store.workers, sealed),
    sealed: async () => trust(),
    formerKeys() {
      if (known !== null) return known.former;
      // Nobody else may ask for long.
      inUse().catch(() => {});
      throw new Unavailable('the event store has not told yet which master keys there were before');
    },
  };
}
