import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type EventStoreOptions, type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { whenAvailable } from '../support/whenAvailable.ts';
import { events, freshCategory, idsOf } from './events.ts';

/** A store that a spec restarts while nothing is written to it. */
export interface RestartableStore {
  readonly url: string;
  restart(): Promise<void>;
}

/** A restart or an election writes a record that is no event: followers continue over it in any order. */
export function idleRestartContract(
  start: () => Promise<RestartableStore>,
  restartsMax = 2,
  open = async (options: EventStoreOptions): Promise<OpenEventStore> => openEventStore(options),
): void {
  let target: RestartableStore;
  let store: OpenEventStore;
  let category: string;

  before(async () => {
    target = await start();
    store = await open({ url: target.url });
  });
  after(() => store?.close());
  beforeEach(() => {
    category = freshCategory();
  });

  const append = async (): Promise<readonly string[]> => {
    const appended = events(2);
    const stream = `${category}-${randomUUID()}`;
    // The client finds the store again after a restart: until then it refuses appends.
    await whenAvailable(() => store.append(stream, 'no_stream', appended));
    return idsOf(appended);
  };

  /** Follows on a separate connection until `enough` ids have arrived, or until it has caught up. */
  const follow = (after: bigint | null, enough = 0) => whenAvailable(() => followOnce(after, enough));

  async function followOnce(after: bigint | null, enough: number) {
    const follower = await open({ url: target.url });
    const leave = new AbortController();
    const seen: string[] = [];
    let position = after ?? 0n;
    try {
      for await (const batch of follower.all({ after, prefixes: [`${category}-`], signal: leave.signal })) {
        seen.push(...idsOf(batch.events));
        position = batch.position;
        if (batch.live && seen.length >= enough) leave.abort();
      }
    } finally {
      await follower.close();
    }
    return { seen, position };
  }

  it('lets a follower continue after each restart, though nothing was written', async () => {
    const written = await append();
    const first = await follow(null, written.length);
    assert.deepEqual(first.seen, written);
    let { position } = first;
    for (let restarts = 0; restarts < restartsMax; restarts += 1) {
      await target.restart();
      const next = await follow(position);
      assert.deepEqual(next.seen, []);
      assert.ok(next.position >= position, `${next.position} is before ${position}`);
      position = next.position;
    }
    const later = await append();
    assert.deepEqual((await follow(position, later.length)).seen, later);
  });

  it('gives a follower that begins after a restart every event once, and continues from its position', async () => {
    const written = await append();
    await target.restart();
    const { seen, position } = await follow(null, written.length);
    assert.deepEqual(seen, written);
    assert.deepEqual((await follow(position)).seen, []);
    const later = await append();
    assert.deepEqual((await follow(position, later.length)).seen, later);
  });
}
