import assert from 'node:assert/strict';
import { streamPrefixes } from '../../../commands/codec.ts';
import { reportsSet, workSet } from '../../../projections/sets.ts';
import type { Database } from '../../../src/postgres/database.ts';
import { columnsOf, type ExportRow, exportView } from '../../../tools/export/formats.ts';
import { eventsOfLog, rowsOfChanges } from '../../../tools/export/log.ts';
import { type ExportPage, type RowSource, rowsOfPeriod } from '../../../tools/export/run.ts';
import { append, createWorld, paymentIdOf, type World } from '../../support/histories.ts';
import { created, done, minute } from '../../support/payments.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { fill, wholeLog } from '../../support/readModels.ts';

const always = { from: null, to: null };
const signal = new AbortController().signal;

/** Payment n with its own id, created at minute n. */
const created_n = (n: number) => {
  const event = created();
  return { ...event, data: { ...event.data, paymentId: paymentIdOf(n), createdAt: minute(n) } } as typeof event;
};
const streamOf = (n: number) => `payment-${paymentIdOf(n)}`;

async function pagesOf(source: RowSource, after: string | null = null): Promise<readonly ExportPage[]> {
  const pages: ExportPage[] = [];
  for await (const page of source(after)) pages.push(page);
  return pages;
}
const rowsOf = async (source: RowSource, after?: string | null): Promise<readonly ExportRow[]> =>
  (await pagesOf(source, after)).flatMap(({ rows }) => rows);

describe('the source of an export', () => {
  let world: World;
  let database: Database;
  const deps = (until: bigint) => ({ store: world.store, until, prefixes: streamPrefixes, signal });
  const project = async (): Promise<void> => {
    for (const set of [workSet, reportsSet]) await fill(database, world.store, set, [await wholeLog(world.store)]);
  };
  const changed = (subject: 'payments' | 'transfers', until: bigint) =>
    rowsOfChanges(deps(until), database, exportView[subject], columnsOf[subject]);

  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => {
    world = createWorld();
  });

  it('for events has each in the order of the log, with its position, up to the end at the beginning', async () => {
    const until = await append(world, streamOf(1), [created_n(1), ...done.slice(1, 3)]);
    await append(world, streamOf(2), [created_n(2)]);
    const rows = await rowsOf(eventsOfLog(deps(until), always));
    assert.deepEqual(
      rows.map(({ type, revision, stream }) => [type, revision, stream]),
      [
        ['PaymentCreated', 0n, streamOf(1)],
        [done[1]?.type, 1n, streamOf(1)],
        [done[2]?.type, 2n, streamOf(1)],
      ],
    );
    assert.equal(rows.at(-1)?.['position'], until);
    const late = await rowsOf(eventsOfLog(deps(until), { from: minute(1), to: null }));
    assert.deepEqual(late, [], 'all of them are older');
  });

  it('for changes has each payment once, at its last event; then only those that have changed', async () => {
    await append(world, streamOf(1), [created_n(1)]);
    await append(world, streamOf(2), [created_n(2)]);
    const first = await append(world, streamOf(1), done.slice(1, 3));
    await project();
    const ids = (rows: readonly ExportRow[]) => rows.map((row) => row['payment_id']);
    const before = await pagesOf(changed('payments', first));
    assert.deepEqual(ids(before.flatMap(({ rows }) => rows)).toSorted(), [paymentIdOf(1), paymentIdOf(2)].toSorted());
    const upTo = before.at(-1)?.upTo ?? null;
    assert.equal(upTo, String(first));

    const second = await append(world, streamOf(1), done.slice(3));
    await project();
    const after = await rowsOf(changed('payments', second), upTo);
    assert.deepEqual(ids(after), [paymentIdOf(1)]);
    assert.equal(after[0]?.['status'], 'payment_payout_completed');
    const transfers = await rowsOf(changed('transfers', second), upTo);
    assert.deepEqual(
      transfers.map(({ kind, status, amount }) => [kind, status, amount]),
      [
        ['payin', 'confirmed', '10.01'],
        ['payout', 'settled', '10.00'],
      ],
    );
    assert.deepEqual(await rowsOf(changed('payments', second), String(second)), []);
  });

  it('for changes leaves later events of a payment to the next export, and has the payment nevertheless', async () => {
    const until = await append(world, streamOf(1), [created_n(1)]);
    await append(world, streamOf(1), done.slice(1));
    await project();
    const rows = await rowsOf(changed('payments', until));
    assert.equal(rows.length, 1);
    assert.equal(rows[0]?.['status'], 'payment_payout_completed', 'the row knows more already');
  });

  it('for a period has the payments created in it, its first moment included and its last one not', async () => {
    for (const n of [1, 2, 3, 4]) await append(world, streamOf(n), [created_n(n)]);
    await project();
    const period = { from: minute(2), to: minute(4) };
    const source = rowsOfPeriod(database, exportView.payments, columnsOf.payments, period);
    const pages = await pagesOf(source);
    const times = pages.flatMap(({ rows }) => rows.map((row) => row['created_at']));
    assert.deepEqual(times.toSorted(), [minute(2), minute(3)]);
    assert.deepEqual(await rowsOf(source, pages.at(-1)?.upTo ?? null), []);
  });
});
