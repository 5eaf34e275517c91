import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { randomOf } from '../../sandbox/random.ts';
import { createPost, NodeAway } from './edge/http.ts';
import { createAgenda } from './kernel/agenda.ts';
import { createFaults } from './kernel/faults.ts';
import { beginRun, type Run } from './kernel/run.ts';
import { shrink } from './report/shrink.ts';
import type { Outcome } from './world/simulate.ts';

const outcomeOf = (faults: readonly string[], payments: number, fails: boolean): Outcome => ({
  seed: 1,
  hash: '',
  failure: fails ? { invariant: 'onePayout', message: '' } : null,
  steps: 0,
  simulated_ms: 0,
  payments,
  faults,
  passed: new Map(),
  events: new Map(),
  alarms: new Map(),
});

describe('kernel of the simulation', () => {
  it('runs due events in the order of their times, and events of one moment in the order of scheduling', () => {
    const agenda = createAgenda(0);
    const taken: string[] = [];
    for (const [name, wait_ms] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
      ['now', 0],
    ] as const)
      agenda.after(wait_ms, () => taken.push(`${name} at ${agenda.now_ms()}`));
    const callOff = agenda.after(20, () => taken.push('called off'));
    callOff();
    for (let next = agenda.next(100); next; next = agenda.next(100)) next();
    assert.deepEqual(taken, ['now at 0', 'first at 10', 'second at 10', 'late at 30']);
  });

  it('keeps the order of many things with random times', () => {
    const [agenda, random] = [createAgenda(0), randomOf('order')];
    const times: number[] = [];
    for (let count = 0; count < 500; count += 1)
      agenda.after(random.below(1_000), () => void times.push(agenda.now_ms()));
    for (let next = agenda.next(2_000); next; next = agenda.next(2_000)) next();
    assert.equal(times.length, 500);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  });

  it('draws the same from the same seed, and another sequence from another', () => {
    const drawn = (seed: string) => Array.from({ length: 5 }, randomOf(seed).next);
    assert.deepEqual(drawn('1'), drawn('1'));
    assert.notDeepEqual(drawn('1'), drawn('2'));
  });

  it('repeats a run with some of its faults alone', () => {
    const pass = (faults: ReturnType<typeof createFaults>) => {
      for (let count = 0; count < 200; count += 1) faults.fails('crash.before.store.append', 0.05);
      return faults.happened;
    };
    const all = pass(createFaults(7, null));
    assert.ok(all.length > 2);
    const kept = all.slice(1);
    assert.deepEqual(pass(createFaults(7, new Set(kept))), kept);
  });

  it('has no faults once they have stopped', () => {
    const faults = createFaults(7, null);
    faults.stop();
    assert.equal(faults.fails('anything', 1), false);
  });

  it('finds the two faults of twenty, and the one payment, that a failure needs', async () => {
    const faults = Array.from({ length: 20 }, (_, at) => `fault#${at}`);
    const needed = ['fault#4', 'fault#17'];
    const smallest = await shrink(outcomeOf(faults, 5, true), async ({ only, payments }) =>
      outcomeOf(
        [...only],
        payments,
        needed.every((fault) => only.has(fault)),
      ),
    );
    assert.deepEqual([...smallest.only].sort(), needed.toSorted());
    assert.equal(smallest.payments, 1);
  });

  it('cuts off a request at once whose signal has ended, and drops the failure that its node answers later', async () => {
    const agenda = createAgenda(0);
    const url = 'http://evm-1.simulated/';
    const ask = () => {
      throw new NodeAway('the node is away');
    };
    const weather = { crash: 0, loss: 0, repeat: 0, way_ms: 10 };
    const parts = { agenda, weather, faults: createFaults(7, null), random: randomOf('7') };
    beginRun({ ...parts, nodes: new Map([[url, { url, ask }]]) } as unknown as Run);
    const unhandled: unknown[] = [];
    const keep = (error: unknown) => void unhandled.push(error);
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', keep);
    try {
      const body = JSON.stringify({ id: 1, method: 'eth_chainId', params: [] });
      await assert.rejects(createPost(url, 1_000)(body, AbortSignal.abort()), /the call was ended/);
      for (let next = agenda.next(100); next; next = agenda.next(100)) next();
      await setImmediate();
      assert.deepEqual(unhandled, []);
    } finally {
      process.off('unhandledRejection', keep);
      for (const other of others) process.on('unhandledRejection', other);
      beginRun(null);
    }
  });
});
