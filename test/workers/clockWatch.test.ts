import assert from 'node:assert/strict';
import type { Clock } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';
import { middle, watchClock } from '../../src/workers/health/clockWatch.ts';

const noon_ms = Date.parse('2026-11-22T12:00:00.000Z');

/** One round over chains whose newest blocks have these ages in seconds by this clock; null: the chain does not answer. */
async function looked(...ages_s: readonly (number | null)[]) {
  const stop = new AbortController();
  const clock: Clock = { now: () => instant(noon_ms), sleep: async () => stop.abort() };
  const [observed, alarms]: [number[], string[]] = [[], []];
  const watch = watchClock({
    clock,
    newest: ages_s.map((age_s) => async () => {
      if (age_s === null) throw new Error('no answer');
      return instant(noon_ms - age_s * 1_000);
    }),
    observe: (offset_ms) => observed.push(offset_ms / 1_000),
    alarm: (message) => alarms.push(message),
  });
  await watch.run(stop.signal);
  return { observed, alarms, trouble: watch.trouble() };
}

describe('the clock of this machine', () => {
  it('is compared with the newest blocks of its chains', async () => {
    assert.deepEqual(await looked(2, 12, 1), { observed: [2], alarms: [], trouble: undefined });
    assert.deepEqual(await looked(60, 60, 60), { observed: [60], alarms: [], trouble: undefined });
  });

  it('is an alarm when it is more than a minute off, ahead or behind', async () => {
    const ahead = await looked(61, 75, 63);
    assert.match(ahead.trouble ?? '', /63 s ahead of the newest blocks/);
    assert.deepEqual(ahead.alarms, [ahead.trouble]);
    const behind = await looked(-3_600, -3_590, -3_601);
    assert.match(behind.trouble ?? '', /3600 s behind the newest blocks/);
  });

  it('is not doubted for one chain that stops or lies, nor trusted for it', async () => {
    for (const odd of [9_999, -9_999]) {
      assert.equal((await looked(2, odd)).trouble, undefined);
      assert.equal((await looked(2, 3, odd)).trouble, undefined);
      assert.match((await looked(90, 95, odd)).trouble ?? '', /ahead/);
    }
  });

  it('is not judged while no chain answers, and by the one that does', async () => {
    assert.deepEqual(await looked(null, null), { observed: [], alarms: [], trouble: undefined });
    assert.deepEqual(await looked(), { observed: [], alarms: [], trouble: undefined });
    assert.match((await looked(null, 90)).trouble ?? '', /ahead/);
  });

  it('has the median of the reported offsets', () => {
    assert.equal(middle([]), undefined);
    assert.equal(middle([5]), 5);
    assert.equal(middle([7, -5]), -5);
    assert.equal(middle([1, 9, 4]), 4);
    assert.equal(middle([1, 3, 4, 9]), 3);
  });
});
