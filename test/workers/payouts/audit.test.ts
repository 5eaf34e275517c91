import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import { nothingToProve, type PayoutRail } from '../../../commands/transferPorts.ts';
import { nextStep } from '../../../domain/payment/backing.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import { auditWorker } from '../../../src/workers/payouts/audit.ts';
import { payoutOwner } from '../../../src/workers/payouts/owners.ts';
import { attempt, done, minute, sent, terms } from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

const { paymentId } = terms();
const item = { key: { kind: 'payout', id: paymentId, part: 1 } } as const;
const { signal } = new AbortController();

describe('rechecking settled payouts', () => {
  it('ignores one whose block remains', async () => {
    const { worker, around, step } = await audited(done);
    await worker.act(item, signal);
    assert.equal(await step(), 'done');
    assert.deepEqual(around.alarms, []);
  });

  it('has one sent again whose block left the chain, and notifies the operator once', async () => {
    const { worker, around, step } = await audited(done);
    around.stands = false;
    await Promise.all([worker.act(item, signal), worker.act(item, signal)]);
    assert.equal(await step(), 'broadcast');
    assert.deepEqual(around.alarms, [attempt().hash]);
  });

  it('queries no chain for payouts that are not settled any more', async () => {
    const { worker, around, step } = await audited(sent);
    around.stands = false;
    await worker.act(item, signal);
    assert.equal(await step(), 'broadcast');
    assert.equal(around.asked, 0);
  });

  it('checks those of the last hour, each every ten minutes', async () => {
    const { worker, around } = await audited(done);
    const due = async (now: number) => (await worker.due(10, minute(now))).length;
    assert.equal(await due(20), 1);
    assert.equal(around.since, plus(minute(20), -3_600_000));
    assert.equal(await due(29), 0);
    assert.equal(await due(30), 1);
  });
});

async function audited(history: typeof done) {
  const { start, clock } = processes();
  const handle = start();
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:test', appId: null }));
  const around = { stands: true, asked: 0, alarms: [] as string[], since: '' };
  const rail = {
    chainId: 1,
    async stillFinal() {
      around.asked += 1;
      return around.stands;
    },
  } as Partial<PayoutRail> as PayoutRail;
  const worker = auditWorker({
    owners: { payout: payoutOwner({ handle, clock, proveFunding: async () => nothingToProve }) },
    rail,
    async settledSince(since) {
      around.since = since;
      return [item];
    },
    alarm: (_, hash) => void around.alarms.push(hash),
  });
  const step = async () => nextStep(await currentState(handle, paymentDecider, paymentId), minute(20)).do;
  return { worker, around, step };
}
