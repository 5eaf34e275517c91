/** An audit that was stopped anywhere and resumed returns the same report as an uninterrupted one. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventBatchRead } from '../../../commands/ports.ts';
import type { StoredEvent } from '../../../domain/decider.ts';
import { summaryText } from '../../../tools/audit/report.ts';
import type { AuditDeps, AuditProgress, AuditReport } from '../../../tools/audit/run.ts';
import { minute } from '../../support/payments.ts';
import { honest, instead, paymentA, paymentB, shown } from './honest.ts';
import { audit, head, told, written } from './world.ts';

const whole = [...honest, head(honest)];
/** Two frauds: one visible in the log alone, one on the chains. */
const bad = written(
  instead(whole, paymentB, 'PaymentFunded', ({ fee }: { readonly fee: string }) => ({ fee: String(BigInt(fee) + 1n) })),
);
const grounds = [{ ...shown[0], transactions: shown[0].transactions.slice(1) }, shown[1]];

/** Three events per batch; the progress is saved after each. */
const slowly = (events: readonly StoredEvent[]): Pick<AuditDeps, 'log' | 'saveEvery'> => ({
  saveEvery: 1,
  log: {
    async *all({ after }): AsyncIterable<EventBatchRead> {
      const rest = events.filter(({ position }) => position > (after ?? 0n));
      for (let at = 0; at < rest.length; at += 3) {
        const next = rest.slice(at, at + 3);
        yield { events: next, position: next.at(-1)?.position ?? 0n, live: at + 3 >= rest.length };
      }
    },
    tail: async () => events.at(-1)?.position ?? 0n,
  },
});

/** Dies after this many saves of the progress. @returns true if the audit ended before */
async function dies(log: readonly StoredEvent[], directory: string, after: number): Promise<boolean> {
  const stop = new AbortController();
  let count = 0;
  const progress = (_: AuditProgress): void => {
    count += 1;
    if (count < after) return;
    stop.abort(new Error('killed'));
    stop.signal.throwIfAborted();
  };
  const more = { ...slowly(log), signal: stop.signal, progress };
  return audit({ log, grounds, directory, more }).then(
    () => false,
    (error: Error) => error.message === 'killed',
  );
}

const said = ({ seconds: _, goneOnFrom: __, ...report }: AuditReport) => report;

describe('an audit that was stopped', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'audit-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('reports the same as one that was not, wherever it was stopped', async () => {
    const unbroken = await audit({ log: bad, grounds });
    assert.ok(unbroken.found > 1);
    let after = 1;
    for (; await dies(bad, directory, after); after += 1) {
      const report = await audit({ log: bad, grounds, directory, more: slowly(bad) });
      assert.deepEqual(said(report), said(unbroken), `stopped at ${after}`);
      rmSync(directory, { recursive: true });
    }
    // Each batch of the log, and each page of the chains.
    assert.ok(after > bad.length / 3);
  });

  it('reports the same when it was stopped again and again', async () => {
    const unbroken = await audit({ log: bad, grounds });
    for (let times = 0; times < 5; times += 1) await dies(bad, directory, 3);
    assert.deepEqual(said(await audit({ log: bad, grounds, directory, more: slowly(bad) })), said(unbroken));
  });

  it('states up to where it did not check again, and the next one finds changes there', async () => {
    const log = written(whole);
    assert.ok(await dies(log, directory, 8));
    const edited = log.map((event) =>
      event.stream === paymentA && event.type === 'PaymentFunded'
        ? { ...event, data: { ...(event.data as object), fee: '2' } }
        : event,
    );
    const gone = await audit({ log: edited, grounds: shown, directory, more: slowly(edited) });
    assert.match(summaryText(gone), new RegExp(`Up to position ${gone.goneOnFrom} .* was not read again`));
    const next = await audit({ log: edited, grounds: shown, directory });
    assert.equal(next.goneOnFrom, null);
    assert.ok(told(next).includes(`linkBroken ${paymentA}`), told(next).join());
  });

  it('starts again where the log is shorter than it was', async () => {
    const log = written(whole);
    assert.ok(await dies(log, directory, 8));
    const restored = log.slice(0, 6);
    const report = await audit({ log: restored, grounds: [], directory, now: minute(10_000) });
    assert.equal(report.goneOnFrom, null);
    assert.equal(report.events, restored.length);
  });
});
