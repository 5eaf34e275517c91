/** Reasons why a payout is not signed. */
import assert from 'node:assert/strict';
import { countPayoutWaits, notePayoutWait, payoutsWaitingSince, payoutWaits } from '../../src/postgres/payoutWaits.ts';
import { paymentIdOf } from '../support/histories.ts';
import { runTool } from '../support/operatorTools.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

describe('waiting payouts', () => {
  const given = givenReadModels();

  it('state their reason, and since when, as long as they are to be signed', async () => {
    const { database } = given;
    await given.payments(p.paid, p.sent);
    await database.query("UPDATE transfers SET step = 'sign' WHERE reference = $1", [paymentIdOf(1)]);
    const wait = { chainId: 1, reason: 'float', message: 'top it up' };
    for (const paymentId of [paymentIdOf(1), paymentIdOf(2)])
      await notePayoutWait(database, { ...wait, paymentId }, p.minute(6));
    await notePayoutWait(database, { ...wait, paymentId: paymentIdOf(1), message: 'still' }, p.minute(7));
    const asked = [paymentIdOf(1), paymentIdOf(2)];
    const expected = { ...wait, paymentId: paymentIdOf(1), message: 'still', since: p.minute(6) };
    assert.deepEqual(await payoutWaits(database, asked), [expected]);
    await notePayoutWait(database, { ...wait, paymentId: paymentIdOf(1), reason: 'appPerHour' }, p.minute(8));
    assert.deepEqual(await countPayoutWaits(database), [
      { chainId: 1, reason: 'appPerHour', count: 1n, since: p.minute(8) },
    ]);
    assert.equal((await payoutWaits(database, asked))[0]?.since, p.minute(8));
    const since = (reason: string, minute: number) => payoutsWaitingSince(database, reason, p.minute(minute), 10);
    assert.deepEqual(await since('appPerHour', 8), [{ paymentId: paymentIdOf(1), chainId: 1 }]);
    assert.deepEqual([await since('appPerHour', 7), await since('float', 8)], [[], []]);
  });

  it('are listed by chain with an operator’s options', async () => {
    const { database } = given;
    await given.payments(p.paid, p.paid);
    for (const n of [1, 2]) {
      await database.query("UPDATE transfers SET step = 'sign' WHERE reference = $1", [paymentIdOf(n)]);
      const wait = { paymentId: paymentIdOf(n), chainId: 8453, reason: 'treasuryBehindChain', message: 'unknown' };
      await notePayoutWait(database, wait, p.minute(5 + n));
    }
    const { said } = await runTool('work', [], { database, env: { RPC_URLS_8453: 'http://127.0.0.1:1' } });
    assert.match(said, /Nothing has failed\./);
    assert.match(said, /'Base'.+'treasuryBehindChain'.+2.+:06:00/);
    assert.match(said, /treasuryBehindChain: The chain shows .+npm run treasury -- adopt/);
  });

  it('are remembered with their durations and reasons, whatever their end', async () => {
    const { database } = given;
    const noted = (reason: string, minute: number) =>
      notePayoutWait(database, { paymentId: paymentIdOf(3), chainId: 1, reason, message: 'so' }, p.minute(minute));
    for (const [reason, minute] of [
      ['float', 1],
      ['float', 4],
      ['gas', 5],
      ['float', 6],
      ['float', 7],
    ] as const)
      await noted(reason, minute);
    const rows = await database.query(
      'SELECT reason, first_at, last_at, waited::text, times FROM ops.payout_waited WHERE payment_id = $1 ORDER BY reason',
      [paymentIdOf(3)],
    );
    assert.deepEqual(rows, [
      { reason: 'float', first_at: p.minute(1), last_at: p.minute(7), waited: '00:05:00', times: 2 },
      { reason: 'gas', first_at: p.minute(5), last_at: p.minute(5), waited: '00:01:00', times: 1 },
    ]);
  });
});
