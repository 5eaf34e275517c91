/** What is no fraud is no finding. */
import assert from 'node:assert/strict';
import { openOf } from '../../src/audit/sums.ts';
import { minute } from '../support/payments.ts';
import { honest, hook, paymentA, shown, without } from './honest.ts';
import { audit, head, told, written } from './world.ts';

describe('the audit', () => {
  const first = head(honest);
  const whole = [...honest, first];

  it('finds nothing in an honest log, and its sums close', async () => {
    const report = await audit({ log: written(whole), grounds: shown });
    assert.deepEqual(report.findings, []);
    assert.deepEqual(report.gaps, []);
    for (const row of report.payments.filter(({ received }) => received > 0n)) assert.equal(openOf(row), 0n);
    assert.equal(report.transactions, 6);
    assert.deepEqual(
      report.accounts.map(({ open }) => open),
      [0n, 0n, 0n, 0n],
    );
  });

  it('without the key, seals are not looked at, and everything else is', async () => {
    const log = written(whole).map((event) => ({ ...event, metadata: { ...event.metadata, seal: 'none' } }));
    assert.deepEqual(told(await audit({ log, grounds: shown, sealed: false })), []);
  });

  it('what is under way is no finding until it is old', async () => {
    const said = without(without(honest, paymentA, 'PayoutConfirmed'), hook, 'WebhookSendStarted');
    const young = await audit({ log: written(said), grounds: shown, now: minute(1) });
    assert.deepEqual(told(young), []);
    assert.deepEqual(told(await audit({ log: written(said), grounds: shown })), [`landedUnrecorded ${paymentA}`]);
  });
});
