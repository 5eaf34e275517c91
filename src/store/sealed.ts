/** A seal on every event: an event of another writer is not trusted. */
import { ChainBroken, linkOf } from '../../commands/codec.ts';
import { createHandle, type HandleDeps, readStream } from '../../commands/handle.ts';
import { type EventStore, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { beginSealing, type KeyChange, sealing, sealingInstance } from '../../domain/sealing.ts';
import {
  createSeals,
  type FormerKey,
  formerKeyOf,
  type KeptKey,
  openFormer,
  type Seals,
} from '../security/masterKey.ts';

export interface Sealing {
  /** Called before each use. @throws Unavailable */
  readonly trust: () => Trust | Promise<Trust>;
  /** Receives each foreign event, possibly more than once. */
  readonly tell: (broken: ChainBroken) => void;
}

/** Valid seals for each part of the log. */
export interface Trust {
  /** Makes new seals. */
  readonly seals: Seals;
  /** Position at which seals began. */
  readonly begun: bigint;
  /** Oldest first; each is valid up to the event that changed it. */
  readonly former: readonly (FormerKey & { readonly kept: KeptKey; readonly until: bigint })[];
  /** The last change; null if there was none. */
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
 * A store that seals every appended event and trusts only sealed ones: a read that finds an invalid one throws, and a subscription skips
 * it, so foreign events block no others.
 *
 * A seal covers stream, revision, id, type, data, metadata and the predecessor's hash: it is valid at one position only.
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
      // A deleted stream accepts a first event, and continues its revisions.
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
/** Later than every position of a log. */
const never = 2n ** 64n;

/** Some secrets are still encrypted with the former key. */
export class KeyChangeUnfinished extends Error {
  override readonly name = 'KeyChangeUnfinished';
  constructor({ keyId, formerKeyId }: KeyChange) {
    super(
      `the change of the master key (seals of key ${formerKeyId} to ${keyId}) stopped half-way: run \`npm run rotate-master-key\` again with the same MASTER_KEY and MASTER_KEY_OLD, then start`,
    );
  }
}

/**
 * Valid seals of this log. Their events must themselves be sealed: each change by the previous key, and the last one opens only with the
 * master key, which reveals all former keys.
 *
 * @throws Unavailable; ChainBroken if the log was sealed with another key, or a change is not ours
 */
export async function trustIn(store: EventStore, { masterKey, tell }: Believing): Promise<Trust> {
  const events = await readStream(store, sealingStream);
  const changes = events.filter(({ type }) => type === 'SealingKeyChanged');
  const seals = createSeals(masterKey);
  const ours = changes.findLastIndex(({ data }) => (data as KeyChange).keyId === seals.keyId);
  const opened = ours < 0 ? null : openFormer(masterKey, changes[ours]?.data as KeyChange);
  // A change that the master key does not open reveals no former key: then the first event under another key is refused.
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
 * Opens one store with seals; they begin now if no earlier version sealed. This may have to wait for the store: `sealed` says why the log
 * cannot be trusted, `formerKeys` throws Unavailable until it is known.
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
    // The event that begins sealing is the first sealed one.
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
  /** A failure to read the log's seals is no failure of the work that needs them. @throws Unavailable */
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
      // There may be no other caller for a long time.
      inUse().catch(() => {});
      throw new Unavailable('the event store has not told yet which master keys there were before');
    },
  };
}
