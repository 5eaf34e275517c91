import assert from 'node:assert/strict';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import { minute_ms } from '../../../domain/time.ts';
import { noncesWorker } from '../../../src/workers/payouts/cancels.ts';
import { held } from '../../support/payments.ts';
import { sharedBySigners } from '../../support/payouts.ts';
import { Crashed, crashAt } from '../../support/processes.ts';
import { first, signingWorld } from './signing.ts';

const { signal } = new AbortController();

describe('looking after nonces', () => {
  /** A payment on hold has nonce 7 and did not sign. */
  async function world() {
    const signing = await signingWorld();
    await assert.rejects(signing.sign({ crash: crashAt('payout.beforeSign') }), Crashed);
    await signing.record(first, [held()]);
    const alarms: string[] = [];
    const { clock, rail, signer, start } = signing;
    const owners = signing.owners();
    const alarm = (reason: string) => void alarms.push(reason);
    const worker = noncesWorker({ ...sharedBySigners(clock), handle: start(), clock, rail, signer, owners, alarm });
    const round = async () => {
      const due = await worker.due(10, clock.now());
      for (const chainId of due) await worker.act(chainId, signal);
      return due.length;
    };
    return { ...signing, alarms, round };
  }

  it('happens every few seconds', async () => {
    const { round, pass } = await world();
    assert.equal(await round(), 1);
    assert.equal(await round(), 0);
    pass(5_000);
    assert.equal(await round(), 1);
  });

  it('reports one that is not mined to an operator, every ten minutes', async () => {
    const { round, pass, alarms } = await world();
    for (let minutes = 1; minutes <= 25; minutes += 1) {
      pass(minute_ms);
      await round();
    }
    assert.deepEqual(alarms, ['nonceStuck', 'nonceStuck']);
  });

  it('reports a missing coin for a cancel to an operator, and sends the cancel when there is coin', async () => {
    const { round, pass, alarms, around } = await world();
    around.cancelBlocked = new PayoutBlocked('gas', 'send it some coin');
    pass(minute_ms);
    await round();
    assert.deepEqual(alarms, ['gas']);
    around.cancelBlocked = null;
    pass(minute_ms);
    await round();
    assert.deepEqual(around.cancelled, [7n]);
  });
});
