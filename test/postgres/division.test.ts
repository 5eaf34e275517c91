import assert from 'node:assert/strict';
import type { Database } from '../../src/postgres/database.ts';
import { type Leases, openLeases } from '../../src/postgres/leases.ts';
import { systemClock } from '../../src/process/system.ts';
import { divideShares } from '../../src/workers/run.ts';
import { patience_ms } from '../support/patience.ts';
import { freshDatabase } from '../support/postgres.ts';

/** Shorter pauses, so that the spec does not wait. */
const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 20, signal) };

describe('a task that is divided over processes', () => {
  let database: Database;
  let processes: { leases: Leases; stop: AbortController; ended: Promise<void>; name: string }[];
  /** Holder of each share. Leases must prevent two concurrent holders. */
  let working: Map<number, string>;
  let everTwice: string[];

  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    [processes, working, everTwice] = [[], new Map(), []];
  });
  afterEach(async () => {
    for (const each of processes) await ended(each);
  });

  /** @param ending_ms time that its work needs to end */
  function start(name: string, shares: number, ending_ms = 20) {
    const leases = openLeases({ database, clock });
    const stop = new AbortController();
    const division = { leases, clock, name: 'subscribers:webhooks', shares, signal: stop.signal };
    const done = divideShares(division, async (share, held) => {
      const other = working.get(share);
      if (other !== undefined) everTwice.push(`${share} by ${other} and ${name}`);
      working.set(share, name);
      await new Promise<void>((resolve) => held.addEventListener('abort', () => resolve(), { once: true }));
      // Started work ends before another process may begin.
      if (ending_ms > 0) await systemClock.sleep(ending_ms);
      working.delete(share);
    });
    const started = { leases, stop, ended: done, name };
    processes.push(started);
    return started;
  }

  async function ended({ leases, stop, ended: done }: (typeof processes)[number]): Promise<void> {
    stop.abort();
    await done;
    await leases.close();
  }

  const of = (name: string): number => [...working.values()].filter((holder) => holder === name).length;

  async function until(what: string, holds: () => boolean): Promise<void> {
    for (const until_ms = performance.now() + patience_ms; !holds(); await systemClock.sleep(25))
      assert.ok(performance.now() < until_ms, `${what}, but ${JSON.stringify([...working])}`);
  }

  it('belongs to one process as long as there is no other; each share has exactly one holder, as others start and end', async () => {
    start('one', 4);
    await until('one has all', () => of('one') === 4);
    const two = start('two', 4);
    await until('both have as many', () => of('one') === 2 && of('two') === 2);
    start('three', 4);
    await until('all are taken', () => working.size === 4 && of('one') <= 2 && of('two') <= 2);
    await ended(two);
    await until('what the second had is taken over', () => of('one') === 2 && of('three') === 2);
    assert.deepEqual(everTwice, []);
  });

  it('is continued after a process’s connection dies', async () => {
    // Its work ends with its signal: a lease whose connection is gone waits for no work.
    const one = start('one', 2, 0);
    start('two', 2);
    await until('both have one', () => of('one') === 1 && of('two') === 1);
    // Its work stops too: it learns that its connection is gone.
    one.stop.abort();
    await one.leases.close();
    await until('the other has both', () => of('two') === 2);
    assert.deepEqual(everTwice, []);
  });
});
