import assert from 'node:assert/strict';
import type { Database } from '../../src/postgres/database.ts';
import { type Leases, openLeases } from '../../src/postgres/leases.ts';
import { systemClock as clock } from '../../src/process/system.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('a lease', () => {
  let database: Database;
  let stop: AbortController;
  /** The leases of two processes. */
  let leases: Leases;
  let others: Leases;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    stop = new AbortController();
    [leases, others] = [openLeases({ database, clock }), openLeases({ database, clock })];
  });
  afterEach(async () => {
    stop.abort();
    await leases.close();
    await others.close();
  });

  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });

  /** Holds the lease until it is aborted; reports the start, and adds its name to the holders. */
  function hold(of: Leases, name: string, holders: Set<string>, signal = stop.signal) {
    const held = Promise.withResolvers<void>();
    const ended = of.hold('work', signal, async (mine) => {
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
    const one = hold(leases, 'one', holders, first.signal);
    await one.held;
    const other = hold(others, 'other', holders);
    const same = hold(leases, 'one again', holders);
    first.abort();
    await one.ended;
    await Promise.race([other.held, same.held]);
    stop.abort();
    await Promise.all([other.ended, same.ended]);
  });

  it('for many names takes one connection, and each is held separately', async () => {
    const first = new AbortController();
    const one = leases.hold('one', first.signal, aborted);
    const two = leases.hold('two', stop.signal, aborted);
    const taken = Promise.withResolvers<void>();
    const heir = others.hold('one', stop.signal, async (mine) => {
      taken.resolve();
      await aborted(mine);
    });
    first.abort();
    await Promise.all([one, taken.promise]);
    const [{ connections } = { connections: 0 }] = await database.query<{ connections: number }>(
      `SELECT count(*)::int AS connections FROM pg_stat_activity WHERE application_name = 'leases' AND datname = current_database()`,
    );
    assert.equal(connections, 2);
    stop.abort();
    await Promise.all([two, heir]);
  });

  it('passes to another process if its holder is silent, though its connection is open', async () => {
    const silent = openLeases({ database, clock: { ...clock, sleep: () => new Promise(() => {}) }, silence_ms: 100 });
    const [held, over] = [Promise.withResolvers<void>(), new AbortController()];
    const one = silent.hold('work', over.signal, async (mine) => {
      held.resolve();
      await aborted(mine);
      over.abort();
    });
    await held.promise;
    const other = hold(others, 'other', new Set());
    await other.held;
    await one;
    stop.abort();
    await other.ended;
    await silent.close();
  });

  it('is noticed to be lost with its connection, and acquired again', async () => {
    const held: AbortSignal[] = [];
    const again = Promise.withResolvers<void>();
    const ended = leases.hold('fragile', stop.signal, async (mine) => {
      held.push(mine);
      if (held.length === 2) again.resolve();
      else {
        await database.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leases' AND datname = current_database()`,
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

  it('is free again after work that failed, and the failure is reported', async () => {
    const failed = leases.hold('work', stop.signal, async () => {
      throw new Error('broken');
    });
    await assert.rejects(failed, /broken/);
    let worked = false;
    await leases.hold('work', stop.signal, async () => {
      worked = true;
    });
    assert.ok(worked);
  });
});
