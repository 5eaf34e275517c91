import assert from 'node:assert/strict';
import { NEVER, of } from 'rxjs';
import { type EventBatchRead, Unavailable } from '../../commands/ports.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { openActive } from '../../projections/generations.ts';
import { workSet } from '../../projections/sets.ts';
import type { Database } from '../../src/postgres/database.ts';
import { ddlOf } from '../../src/postgres/migrate.ts';
import { follow, projectedWaiter } from '../../src/readmodels/projections.ts';
import { patience_ms } from '../support/patience.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('following the log', () => {
  const event = (position: number) => ({ position: BigInt(position) }) as StoredEvent;
  const batch = (live: boolean, ...positions: number[]): EventBatchRead => ({
    events: positions.map(event),
    position: BigInt(positions.at(-1) ?? 0),
    live,
  });

  /** A log that returns these batches, one per request, and then `end`s. */
  function log(batches: readonly EventBatchRead[], end: () => Promise<void> = async () => {}) {
    const asked = { for: 0 };
    async function* all(): AsyncIterable<EventBatchRead> {
      for (const each of batches) {
        asked.for += 1;
        yield each;
      }
      await end();
    }
    return { all, asked };
  }
  const options = { after: null, prefixes: [], eventsMin: 3, eventsMax: 4, signal: new AbortController().signal };

  it('returns whole batches while catching up, and available events once live', async () => {
    const { all } = log([batch(false, 1), batch(false, 2), batch(false, 3), batch(false, 4), batch(true, 5)]);
    const handed: bigint[][] = [];
    for await (const { events } of follow({ all }, options)) handed.push(events.map(({ position }) => position));
    assert.deepEqual(handed.flat(), [1n, 2n, 3n, 4n, 5n]);
    assert.ok(handed[0] && handed[0].length >= 3);
  });

  it('reads no further ahead than its limit', async () => {
    const { all, asked } = log(Array.from({ length: 20 }, (_, n) => batch(false, n)));
    const batches = follow({ all }, options);
    await batches.next();
    await new Promise(setImmediate);
    assert.ok(asked.for <= 3 + 1 + 4, `${asked.for} batches were read`);
    await batches.return(undefined);
  });

  it('returns the events before the subscription broke, then reports it', async () => {
    const { all } = log([batch(false, 1)], async () => {
      throw new Unavailable('broken');
    });
    const batches = follow({ all }, options);
    assert.equal((await batches.next()).value.position, 1n);
    await assert.rejects(batches.next(), Unavailable);
  });
});

describe('waiting until events are projected', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
    await openActive(database, workSet, await ddlOf('work'));
  });
  const reach = (position: number) => database.query('UPDATE ops.projections SET position = $1', [position]);

  it('ends at once when the checkpoint is there', async () => {
    await reach(10);
    await projectedWaiter(database, NEVER)(10n, { timeout_ms: 1 });
  });

  it('ends when a notification reports the position or a later one', async () => {
    await reach(10);
    const told = of({ channel: 'projected', payload: 'reports 30' }, { channel: 'projected', payload: 'work 21' });
    await projectedWaiter(database, told)(20n);
    await assert.rejects(projectedWaiter(database, told)(22n, { timeout_ms: 1 }), Unavailable);
  });

  it('ends without any notification too', async () => {
    await reach(10);
    const waited = projectedWaiter(database, NEVER)(20n, { timeout_ms: patience_ms });
    await reach(20);
    await waited;
  });

  it('gives up after its time, or when it is aborted', async () => {
    await reach(10);
    const wait = projectedWaiter(database, NEVER);
    await assert.rejects(wait(20n, { timeout_ms: 1 }), /have not come to 20/);
    await assert.rejects(wait(20n, { signal: AbortSignal.abort() }), Unavailable);
    const stop = new AbortController();
    const waited = wait(20n, { signal: stop.signal });
    stop.abort();
    await assert.rejects(waited, Unavailable);
  });
});
