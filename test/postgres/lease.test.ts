import assert from 'node:assert/strict';
import type { Database } from '../../src/postgres/database.ts';
import { systemClock as clock } from '../../src/runtime/clock.ts';
import { withLease } from '../../src/runtime/lease.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('a lease', () => {
  let database: Database;
  let stop: AbortController;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    stop = new AbortController();
  });
  afterEach(() => stop.abort());

  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });

  /** Holds the lease until it is aborted; tells when it has it, and who has it. */
  function hold(name: string, holders: Set<string>, signal = stop.signal) {
    const held = Promise.withResolvers<void>();
    const ended = withLease({ database, clock }, 'work', signal, async (mine) => {
      holders.add(name);
      assert.equal(holders.size, 1, `${[...holders]} hold it at once`);
      held.resolve();
      await aborted(mine);
      holders.delete(name);
    });
    return { held: held.promise, ended };
  }

  it('is held by one at a time; another takes over when it is given up', async () => {
    const holders = new Set<string>();
    const first = new AbortController();
    const one = hold('one', holders, first.signal);
    await one.held;
    const other = hold('other', holders);
    first.abort();
    await one.ended;
    await other.held;
    stop.abort();
    await other.ended;
  });

  it('is noticed to be lost with its connection, and taken up again', async () => {
    const held: AbortSignal[] = [];
    const again = Promise.withResolvers<void>();
    const ended = withLease({ database, clock }, 'fragile', stop.signal, async (mine) => {
      held.push(mine);
      if (held.length === 2) again.resolve();
      else {
        await database.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lease fragile'`,
        );
      }
      await aborted(mine);
    });
    await again.promise;
    assert.ok(held[0]?.aborted);
    assert.ok(!stop.signal.aborted);
    stop.abort();
    await ended;
  });

  it('is free again after work that failed, and the failure is told', async () => {
    const failed = withLease({ database, clock }, 'work', stop.signal, async () => {
      throw new Error('broken');
    });
    await assert.rejects(failed, /broken/);
    let worked = false;
    await withLease({ database, clock }, 'work', stop.signal, async () => {
      worked = true;
    });
    assert.ok(worked);
  });
});
