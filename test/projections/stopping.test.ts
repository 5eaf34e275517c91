import assert from 'node:assert/strict';
import { PoisonEvent } from '../../projections/commit.ts';
import { ofEvents, type Projection } from '../../projections/projection.ts';
import { reportsSet } from '../../projections/sets.ts';
import { created, created_at, event } from '../support/payments.ts';
import { runners } from './runners.ts';

describe('a projection set that cannot continue', () => {
  const on = runners();

  it('stops loudly at an event that it cannot handle, after everything before it', async () => {
    await on.pay(1);
    const poison = event('PayoutDied', { attempt: 1, proof: { reason: 'reverted', detail: 'of no payout' } });
    const bad = await on.live(2, [created(), poison]);
    const { ended, reports } = on.start();

    await assert.rejects(ended, (error: unknown) => {
      assert.ok(error instanceof PoisonEvent);
      assert.match(error.message, /PayoutDied \(payment-.*2, revision 1\)/);
      return true;
    });
    assert.deepEqual(await on.statuses(), ['payment_payout_completed', 'payment_unpaid']);
    assert.equal(reports.at(-1)?.kind, 'stopped');
    const [row] = await on.database.query<{ stopped: string; position: bigint }>(
      `SELECT stopped, position FROM ops.projections WHERE set_name = 'work'`,
    );
    assert.match(row?.stopped ?? '', /PayoutDied/);
    assert.ok(row && row.position < bad);
  });

  it('stops at a row that names a column its table does not have', async () => {
    const misspelt: Projection = {
      name: 'misspelt',
      of: 'events',
      project: ({ stored: { stream } }) => [
        {
          op: 'upsert',
          table: 'hourly_stats',
          row: { app_id: stream, hour: created_at, volume: 1, net: 1, count: 1, cuont: 1 },
        },
      ],
    };
    await on.pay(1);
    const { ended } = on.start({ set: { ...reportsSet, projections: [misspelt] } });
    await assert.rejects(ended, (error: unknown) => {
      assert.ok(error instanceof PoisonEvent);
      assert.match(error.message, /PaymentCreated .* hourly_stats has no column cuont/);
      return true;
    });
    const [row] = await on.database.query<{ stopped: string; events: bigint }>(
      `SELECT stopped, events FROM ops.projections WHERE set_name = 'reports'`,
    );
    assert.match(row?.stopped ?? '', /no column cuont/);
    assert.equal(row?.events, 0n);
  });

  it('stops alone: a mistake in a report does not hold up the work', async () => {
    const mistaken = ofEvents('mistaken', ({ event: { type } }) => {
      assert.notEqual(type, 'PaymentFunded');
      return [];
    });
    const reports = on.start({ set: { ...reportsSet, projections: [mistaken] } });
    on.start();
    await on.reach(await on.pay(1));
    await assert.rejects(reports.ended, PoisonEvent);
    await on.reach(await on.pay(2));
    assert.equal((await on.statuses()).length, 2);
  });
});
