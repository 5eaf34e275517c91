import assert from 'node:assert/strict';
import { matchUnmatched, refundUnmatched } from '../../commands/matchUnmatched.ts';
import { recordUnmatched } from '../../commands/recordPayin.ts';
import { type Transfer, transferId } from '../../domain/payment/events.ts';
import { workSet } from '../../projections/sets.ts';
import { listUnmatched } from '../../queries/payins.ts';
import { unfinishedMatches } from '../../queries/work.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { unfinishedMatchesName, unfinishedMatchesWorker } from '../../src/workers/payins/unfinishedMatches.ts';
import { payer, stellarTreasury } from '../support/contractPayments.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import { created, minute, payin, stellarUsdc } from '../support/payments.ts';
import { sendingBack } from '../support/payoutCosts.ts';
import { freshDatabase } from '../support/postgres.ts';
import { accepted, Crashed, crashAt } from '../support/processes.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const paymentId = paymentIdOf(1);
const money = (tx: string, amount = '10.00', memo: string | null = null): Transfer => ({
  ...payin({ tx, amount, in: stellarUsdc }),
  from: payer,
  to: stellarTreasury,
  memo,
});

describe('the list of unmatched money', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    world = createWorld();
    await database.query('TRUNCATE ops.work_failures CASCADE');
    const first = created({ from: stellarUsdc });
    if (first.type !== 'PaymentCreated') return assert.fail();
    await append(world, `payment-${paymentId}`, [{ ...first, data: { ...first.data, paymentId } }]);
  });

  const project = async () => void (await fill(database, world.store, workSet, [await wholeLog(world.store)]));
  const kept = async (transfer: Transfer) => {
    world.clock.advance(1_000);
    await recordUnmatched(world, transfer);
    return transferId(transfer);
  };
  const unfinished = () => unfinishedMatches(database, { worker: unfinishedMatchesName, max: 10, now: minute(90) });

  it('shows open decisions first, and each decision', async () => {
    const given = await kept(money('given'));
    const back = await kept(money('back'));
    const older = await kept(money('older', '0.0100001', 'invoice 7'));
    const newer = await kept(money('newer'));
    await accepted(matchUnmatched(world, given, paymentId, { cause: 'operator:test' }));
    const refund = { memo: '7', reason: 'no order' };
    await accepted(refundUnmatched({ ...world, ...sendingBack }, back, refund, { cause: 'operator:test' }));
    await project();

    const list = await listUnmatched(database, 10);
    assert.deepEqual(
      list.map(({ id, verdict }) => [id, verdict]),
      [
        [newer, 'open'],
        [older, 'open'],
        [back, 'refundRequested'],
        [given, 'assigned'],
      ],
    );
    const [, old, refunded, assigned] = list;
    assert.deepEqual([old?.amount, old?.memo, old?.from, old?.to], ['0.0100001', 'invoice 7', payer, stellarTreasury]);
    assert.deepEqual([refunded?.refundAddress, refunded?.refundMemo, refunded?.refundReason], [payer, '7', 'no order']);
    assert.equal(assigned?.paymentId, paymentId);
    assert.equal((await listUnmatched(database, 2)).length, 2);
  });

  it('names a match without its payin, until the worker has recorded it', async () => {
    const whole = await kept(money('whole'));
    await accepted(matchUnmatched(world, whole, paymentId, { cause: 'operator:test' }));
    const half = await kept(money('half'));
    const dying = { ...world, crash: crashAt('unmatched.afterAssigned') };
    await assert.rejects(matchUnmatched(dying, half, paymentId, { cause: 'operator:test' }), Crashed);
    await project();
    assert.deepEqual(await unfinished(), [{ id: half }]);

    const worker = unfinishedMatchesWorker({ ...world, due: unfinished });
    for (const item of await worker.due(10, minute(90))) await worker.act(item, new AbortController().signal);
    await project();
    assert.deepEqual(await unfinished(), []);
    const payins = await database.query<{ id: string }>('SELECT transfer_id AS id FROM payins ORDER BY id');
    assert.deepEqual(payins.map(({ id }) => id).sort(), [half, whole].sort());
  });

  it('names no match whose payin failed a moment ago', async () => {
    const half = await kept(money('half'));
    const dying = { ...world, crash: crashAt('unmatched.afterAssigned') };
    await assert.rejects(matchUnmatched(dying, half, paymentId, { cause: 'operator:test' }), Crashed);
    await project();
    await createFailures(database).failed(unfinishedMatchesName, half, new Error('no'), minute(90));
    assert.deepEqual(await unfinished(), []);
  });
});
