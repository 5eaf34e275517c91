import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { ChainBroken, eventCodec, linkOf, seal, tipOf } from '../../commands/codec.ts';
import { createHandle, readStream } from '../../commands/handle.ts';
import { type EventStore, Unavailable } from '../../commands/ports.ts';
import { assert as invariant, type StoredEvent } from '../../domain/decider.ts';
import { introduceTypes, webhookTypes } from '../../domain/webhook.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { createSeals } from '../../src/security/masterKey.ts';
import { withSeals } from '../../src/store/sealed.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';

const stream = 'webhookTypes-introduced';
const masterKey = randomBytes(32);
const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };

/** A service on a log: the events that it accepts, and the foreign events that it reports. */
function serviceOn(log: EventStore, key: Uint8Array = masterKey) {
  const told: ChainBroken[] = [];
  const tell = (broken: ChainBroken) => void told.push(broken);
  const store = withSeals({ ...log, workers: log }, { masterKey: key, tell, deciding });
  const handle = createHandle({ ...deciding, store });
  const facts = { cause: 'worker:test', appId: null } as const;
  const introduce = (...types: string[]) =>
    handle(webhookTypes, 'introduced', (known) => introduceTypes(known, types), facts);
  return { store, told, introduce };
}

const forged = (previous: StoredEvent | null, type = 'WebhookTypeIntroduced', eventType = 'forged') =>
  seal(
    stream,
    previous && tipOf(previous),
    [{ type, data: { eventType } }],
    { at: systemClock.now(), cause: 'worker:test', appId: null, schemaVersion: 1 },
    { eventId: randomUUID },
  );

const at = (revision: bigint) => (error: unknown) =>
  error instanceof ChainBroken && error.stream === stream && error.revision === revision;

async function seenBy(store: EventStore): Promise<string[]> {
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const batch of store.all({ after: null, prefixes: ['webhookTypes-'], signal: stop.signal })) {
    seen.push(...batch.events.map(({ type, data }) => (data as { eventType?: string }).eventType ?? type));
    if (batch.live) break;
  }
  return seen;
}

describe('an event log that others can write to', () => {
  let log: EventStore;
  let service: ReturnType<typeof serviceOn>;
  beforeEach(() => {
    log = memoryEventStore();
    service = serviceOn(log);
  });

  it('accepts the service’s events: they are read, decided on, and the same for its other instances', async () => {
    await service.introduce('one_type');
    await service.introduce('another_type');
    const other = serviceOn(log);
    await other.introduce('third_type');
    assert.equal((await readStream(service.store, stream)).length, 3);
    assert.deepEqual(await seenBy(service.store), ['one_type', 'another_type', 'third_type']);
    assert.deepEqual([service.told, other.told], [[], []]);
  });

  it('is not trusted when a stranger begins a stream', async () => {
    await service.store.sealed();
    await log.append(stream, 'no_stream', forged(null));
    await assert.rejects(service.introduce('ours'), at(0n));
    await assert.rejects(readStream(service.store, stream), at(0n));
    assert.equal(service.told[0]?.stream, stream);
  });

  it('is not trusted when a stranger continues a stream, though they read its end and link to it', async () => {
    await service.introduce('ours');
    const [ours] = await log.read(stream);
    invariant(ours !== undefined, 'one is there');
    await log.append(stream, 0n, forged(ours));
    // The cached state does not help: the next decision uses it, and its append finds the foreign event.
    await assert.rejects(service.introduce('ours_too'), at(1n));
    await assert.rejects(serviceOn(log).introduce('ours_too'), at(1n));
  });

  it('is not trusted when a seal is moved to another event, place or stream', async () => {
    await service.introduce('ours');
    const [ours] = await log.read(stream);
    invariant(ours !== undefined, 'one is there');
    const { seal: mark } = ours.metadata;
    invariant(mark !== undefined, 'it is sealed');
    const [next] = forged(ours);
    invariant(next !== undefined, 'one was made');
    await log.append(stream, 0n, [{ ...next, metadata: { ...next.metadata, seal: mark } }]);
    await assert.rejects(readStream(service.store, stream), at(1n));
    await log.append('webhookTypes-other', 'no_stream', [{ ...ours, id: randomUUID(), data: ours.data as object }]);
    await assert.rejects(readStream(service.store, 'webhookTypes-other'), ChainBroken);
  });

  it('loses only the affected stream: subscriptions omit the forged event and continue', async () => {
    await service.introduce('ours');
    const [ours] = await log.read(stream);
    invariant(ours !== undefined, 'one is there');
    await log.append(stream, 0n, forged(ours));
    const facts = { cause: 'worker:test', appId: null } as const;
    const handle = createHandle({ ...deciding, store: service.store });
    await handle(webhookTypes, 'other', (known) => introduceTypes(known, ['also_ours']), facts);
    assert.deepEqual(await seenBy(service.store), ['ours', 'also_ours']);
    assert.equal(service.told[0]?.revision, 1n);
  });

  it('is read where older versions wrote without seals, and no longer from where seals began', async () => {
    await log.append(stream, 'no_stream', forged(null, 'WebhookTypeIntroduced', 'old_type'));
    await service.introduce('new_type');
    const events = await readStream(service.store, stream);
    assert.deepEqual(
      events.map(({ metadata }) => metadata.seal !== undefined),
      [false, true],
    );
    assert.equal(events[1]?.metadata.prev, linkOf(events[0] as StoredEvent));
    await log.append(stream, 1n, forged(events[1] as StoredEvent));
    await assert.rejects(readStream(service.store, stream), at(2n));
  });

  it('is refused under another master key, with the names of both keys', async () => {
    await service.store.sealed();
    const stranger = serviceOn(log, randomBytes(32));
    const [one, other] = [createSeals(masterKey).keyId, /seal of key [0-9a-f]{8}, but has one of key/];
    await assert.rejects(
      stranger.store.sealed(),
      (error: Error) => other.test(error.message) && error.message.includes(one),
    );
  });

  it('is refused when a stranger stated where seals begin', async () => {
    const began = { type: 'SealingBegun', data: { keyId: createSeals(masterKey).keyId } };
    const facts = { at: systemClock.now(), cause: 'worker:sealing', appId: null, schemaVersion: 1 };
    await log.append('sealing-begun', 'no_stream', seal('sealing-begun', null, [began], facts, randomIds));
    await assert.rejects(service.store.sealed(), ChainBroken);
    // The work that meets it has not failed: the stream is unusable for all.
    const ofTheWhole = (error: Error) => error instanceof Unavailable && error.cause instanceof ChainBroken;
    await assert.rejects(service.introduce('ours'), ofTheWhole);
  });

  it('is not continued where a deleted stream would begin again', async () => {
    await service.introduce('ours');
    const emptied: EventStore = {
      ...log,
      read: (name, options) => (name === stream ? Promise.resolve([]) : log.read(name, options)),
      append: async (name, expected, events) =>
        name === stream && expected === 'no_stream' ? log.append(name, 0n, events) : log.append(name, expected, events),
    };
    await assert.rejects(serviceOn(emptied).introduce('ours'), at(1n));
  });

  it('queries again where seals begin when the store was away at the first time', async () => {
    let away = true;
    const flaky = memoryEventStore({
      at: () => {
        if (away) throw new Error('away');
      },
    });
    const later = serviceOn(flaky);
    await assert.rejects(later.introduce('ours'), /away/);
    away = false;
    await later.introduce('ours');
    assert.equal((await readStream(later.store, stream)).length, 1);
  });
});
