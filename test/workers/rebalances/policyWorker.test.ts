import assert from 'node:assert/strict';
import type { Shortage } from '../../../domain/rebalance/policy.ts';
import { type Instant, plus } from '../../../domain/time.ts';
import { policyWorker, shortageText } from '../../../src/workers/rebalances/followPolicy.ts';
import { minute } from '../../support/payments.ts';

const byHand: Shortage = { chainId: 56, missing: 4_990_500_000n, emptyIn_ms: 90 * 60_000, why: 'noRoute' };
const { signal } = new AbortController();

function world(shortages: readonly Shortage[]) {
  const time: { now: Instant } = { now: minute(0) };
  const alarms: string[] = [];
  const state = { fails: false };
  const worker = policyWorker({
    symbols: ['USDC'],
    async follow() {
      if (state.fails) throw new Error('Postgres does not answer');
      return { kind: 'decided', ordered: [], shortages };
    },
    clock: { now: () => time.now },
    alarm: (reason, _, message) => void alarms.push(`${reason}: ${message}`),
    tell: () => {},
  });
  return { worker, time, alarms, state };
}

describe('the worker of the policy', () => {
  it('says how much is missing on which chain, until when, and why', () => {
    assert.equal(
      shortageText('USDC', byHand, minute(0)),
      `BNB Chain needs 4990.50 USDC; it is empty at ${minute(90)} at the present outflow; the protocol does not serve the chain, so move the money by hand; see docs/operate/floats.md`,
    );
    assert.match(shortageText('USDC', { ...byHand, emptyIn_ms: null }, minute(0)), /; nothing leaves it at present;/);
  });

  it('raises an alarm per chain, again every 10 minutes, and none for what passes', async () => {
    const low: Shortage = { ...byHand, chainId: 1, why: 'noSource' };
    const { worker, time, alarms } = world([byHand, low, { ...low, chainId: 137, why: 'coolDown' }]);
    await worker.act('USDC', signal);
    assert.deepEqual(
      alarms.map((text) => text.slice(0, text.indexOf(' needs'))),
      ['floatByHand: BNB Chain', 'floatLow: Ethereum'],
    );
    time.now = plus(minute(10), -1);
    await worker.act('USDC', signal);
    assert.equal(alarms.length, 2);
    time.now = minute(10);
    await worker.act('USDC', signal);
    assert.equal(alarms.length, 4);
  });

  it('counts the rounds and the alarms of each token for itself', async () => {
    const time: { now: Instant } = { now: minute(0) };
    const alarms: string[] = [];
    const low: Shortage = { ...byHand, chainId: 137, why: 'noFee' };
    const worker = policyWorker({
      symbols: ['USDC', 'USDT'],
      follow: async () => ({ kind: 'decided', ordered: [], shortages: [low] }),
      clock: { now: () => time.now },
      alarm: (_, { token }, message) => void alarms.push(`${token}: ${message}`),
      tell: () => {},
    });
    assert.deepEqual(await worker.due(9, time.now), ['USDC', 'USDT']);
    await worker.act('USDC', signal);
    assert.deepEqual(await worker.due(9, time.now), ['USDT']);
    await worker.act('USDT', signal);
    assert.deepEqual(await worker.due(9, time.now), []);
    assert.match(alarms[0] ?? '', /^USDC: Polygon needs 4990\.50 USDC; .* the attestation service states no fee/);
    assert.match(alarms[1] ?? '', /^USDT: Polygon needs 4990\.50 USDT; .* no message fee within the limit is known/);
    assert.equal(alarms.length, 2);
  });

  it('is due each minute, at once after a failure, and while the clock is set back', async () => {
    const { worker, time, state } = world([]);
    const isDue = async () => (await worker.due(1, time.now)).length === 1;
    assert.ok(await isDue());
    state.fails = true;
    await assert.rejects(worker.act('USDC', signal));
    assert.ok(await isDue());
    state.fails = false;
    await worker.act('USDC', signal);
    assert.ok(!(await isDue()));
    assert.equal(worker.nextDue?.(time.now), minute(1));
    time.now = plus(minute(0), -1);
    assert.ok(await isDue());
    time.now = minute(1);
    assert.ok(await isDue());
  });
});
