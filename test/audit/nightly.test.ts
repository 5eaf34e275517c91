import assert from 'node:assert/strict';
import { epochMs, type Instant, instant } from '../../domain/time.ts';
import { type LastAudit, nextAt, runNightly } from '../../src/audit/nightly.ts';

const start = instant(Date.UTC(2026, 10, 21, 1));

/** A clock whose sleeps pass at once, until so many hours have gone by. */
function night(hours: number, outcome: (at: Instant) => LastAudit) {
  const stop = new AbortController();
  let now_ms = epochMs(start);
  const told: string[] = [];
  let last: LastAudit | null = null;
  const clock = {
    now: () => instant(now_ms),
    async sleep(duration_ms: number) {
      now_ms += duration_ms;
      if (now_ms - epochMs(start) > hours * 3_600_000) stop.abort();
    },
  };
  const hour = () => clock.now().slice(11, 16);
  return runNightly(
    {
      clock,
      at: '03:00',
      last: async () => last,
      async audit() {
        last = outcome(clock.now());
        told.push(`audit ${hour()}`);
        return last;
      },
      tell: {
        standing() {},
        found: ({ findings }) => void told.push(`${findings} found ${hour()}`),
        failed: (error) => void told.push(`failed ${(error as Error).message}`),
        stale: () => void told.push(`stale ${hour()}`),
      },
    },
    stop.signal,
  ).then(() => told);
}

describe('the nightly audit', () => {
  it('begins at its time, each day', async () => {
    assert.equal(nextAt(epochMs(start), '03:00'), Date.UTC(2026, 10, 21, 3));
    assert.equal(nextAt(Date.UTC(2026, 10, 21, 3), '03:00'), Date.UTC(2026, 10, 22, 3));
    const clean = (at: Instant) => ({ at, findings: 0, told: [], gaps: 0 });
    assert.deepEqual(await night(27, clean), ['audit 03:00', 'audit 03:00']);
  });

  it('tells what was found', async () => {
    const bad = (at: Instant) => ({ at, findings: 2, told: ['payinTwice payment-a'], gaps: 0 });
    assert.deepEqual(await night(3, bad), ['audit 03:00', '2 found 03:00']);
  });

  it('tells that it could not come to its end, and that none has for long, once', async () => {
    const never = (): LastAudit => {
      throw new Error('the disk is full');
    };
    assert.deepEqual(await night(40, never), ['failed the disk is full', 'failed the disk is full', 'stale 07:01']);
  });
});
