import assert from 'node:assert/strict';
import type { Database } from '../../src/postgres/database.ts';
import { type Leases, openLeases } from '../../src/postgres/leases.ts';
import { systemClock } from '../../src/process/system.ts';
import { divideShares } from '../../src/workers/run.ts';
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

  function start(name: string, shares: number) {
    const leases = openLeases({ database, clock });
    const stop = new AbortController();
    const division = { leases, clock, name: 'subscribers:webhooks', shares, signal: stop.signal };
    const done = divideShares(division, async (share, held) => {
      const other = working.get(share);
      if (other !== undefined) everTwice.push(`${share} by ${other} and ${name}`);
      working.set(share, name);
      await new Promise<void>((resolve) => held.addEventListener('abort', () => resolve(), { once: true }));
      // Started work ends before another process may begin.
      await systemClock.sleep(20);
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
    for (let tries = 0; !holds(); tries += 1) {
      assert.ok(tries < 400, `${what}, but ${JSON.stringify([...working])}`);
      await systemClock.sleep(25);
    }
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
    const one = start('one', 2);
    start('two', 2);
    await until('both have one', () => of('one') === 1 && of('two') === 1);
    // Its work stops too: it learns that its connection is gone.
    one.stop.abort();
    await one.leases.close();
    await until('the other has both', () => of('two') === 2);
    assert.deepEqual(everTwice, []);
  });
});
