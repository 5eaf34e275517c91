import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type Instant, instant } from '../../../domain/time.ts';
import { auditMost_ms, type LastAudit, nextAt, runNightly } from '../../../src/workers/audit/nightly.ts';

const hour_ms = 3_600_000;
/** One o'clock at night. */
const start_ms = Date.UTC(2026, 10, 21, 1);
const hoursAgo = (hours: number): Instant => instant(start_ms - hours * hour_ms);
const clean = (at: Instant): LastAudit => ({ at, findings: 0, told: [], gaps: 0 });

interface Night {
  readonly hours: number;
  /** The last audit of an earlier process. */
  readonly left?: LastAudit;
  /** Result of an audit that ends at that time. Default: clean. */
  readonly outcome?: (at: Instant) => LastAudit;
  /** Duration of one audit. */
  readonly takes_ms?: number;
}

/** A clock whose sleeps return at once, until this many hours have passed. */
async function night({ hours, left, outcome = clean, takes_ms = 0 }: Night) {
  const stop = new AbortController();
  let now_ms = start_ms;
  const told: string[] = [];
  const ages_ms: number[] = [];
  let last: LastAudit | null = left ?? null;
  const clock = {
    now: () => instant(now_ms),
    async sleep(duration_ms: number) {
      await turn();
      now_ms += duration_ms;
      if (now_ms - start_ms > hours * hour_ms) stop.abort();
    },
  };
  const time = () => clock.now().slice(11, 16);
  async function audit(signal: AbortSignal) {
    const ends_ms = now_ms + takes_ms;
    told.push(`audit ${time()}`);
    while (now_ms < ends_ms && !signal.aborted) await turn();
    if (signal.aborted) told.push(`ended ${time()}`);
    signal.throwIfAborted();
    last = outcome(clock.now());
    return last;
  }
  const tell = {
    standing: (age_ms: number) => void ages_ms.push(age_ms),
    found: ({ findings }: LastAudit) => void told.push(`${findings} found`),
    failed: (error: unknown) => void told.push(`failed ${(error as Error).message}`),
    stale: () => void told.push(`stale ${time()}`),
  };
  await runNightly({ clock, at: '03:00', last: () => last, audit, tell }, stop.signal);
  return { told, ages_ms };
}

describe('the nightly audit', () => {
  it('begins at its time, each day', async () => {
    assert.equal(nextAt(start_ms, '03:00'), Date.UTC(2026, 10, 21, 3));
    assert.equal(nextAt(Date.UTC(2026, 10, 21, 3), '03:00'), Date.UTC(2026, 10, 22, 3));
    assert.deepEqual((await night({ hours: 27 })).told, ['audit 03:00', 'audit 03:00']);
  });

  it('reports its findings', async () => {
    const outcome = (at: Instant) => ({ ...clean(at), findings: 2, told: ['payinTwice payment-a'] });
    assert.deepEqual((await night({ hours: 3, outcome })).told, ['audit 03:00', '2 found']);
  });

  it('catches up an hour that was missed while nobody ran it, once, and keeps its time afterwards', async () => {
    const { told } = await night({ hours: 27, left: clean(hoursAgo(30)) });
    assert.deepEqual(told, ['audit 01:00', 'audit 03:00', 'audit 03:00']);
  });

  it('catches up nothing where the last hour was kept', async () => {
    assert.deepEqual((await night({ hours: 1, left: clean(hoursAgo(21.5)) })).told, []);
  });

  it('catches up none whose outcome states that it ends later than now: some clock was wrong', async () => {
    const { told, ages_ms } = await night({ hours: 3, left: clean(hoursAgo(-1_000)) });
    assert.deepEqual(told, ['audit 03:00']);
    assert.ok(ages_ms.every((age_ms) => age_ms >= 0));
  });

  it('states how old the last one is, also while one runs', async () => {
    const { told, ages_ms } = await night({ hours: 4, left: clean(hoursAgo(21)), takes_ms: hour_ms });
    assert.deepEqual(told, ['audit 03:00']);
    assert.equal(ages_ms[0], 21 * hour_ms);
    assert.equal(Math.max(...ages_ms), 24 * hour_ms, 'until it has come to its end');
    assert.ok((ages_ms.at(-1) ?? 0) <= hour_ms, 'and from then on since that');
  });

  it('reports that it could not finish, and that none has for long, once', async () => {
    const outcome = (): LastAudit => {
      throw new Error('the disk is full');
    };
    assert.deepEqual((await night({ hours: 40, outcome })).told, [
      'audit 03:00',
      'failed the disk is full',
      'audit 03:00',
      'failed the disk is full',
      'stale 07:01',
    ]);
  });

  it('ends one that hangs, and begins another the next day', async () => {
    const { told } = await night({ hours: 27, takes_ms: auditMost_ms + hour_ms });
    const [, ended, failed] = told;
    assert.deepEqual([told[0], ended, told[3]], ['audit 03:00', 'ended 09:00', 'audit 03:00']);
    assert.match(failed ?? '', /^failed it did not come to its end within 6 hours and was ended/);
  });

  it('waits for the end of the running one when it is stopped, and calls that no failure', async () => {
    assert.deepEqual((await night({ hours: 3, takes_ms: 4 * hour_ms })).told, ['audit 03:00', 'ended 04:01']);
  });
});
