import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import { Unavailable } from '../../../commands/ports.ts';
import { nothingToProve, type PayoutRail } from '../../../commands/transferPorts.ts';
import { nextStep } from '../../../domain/payment/backing.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import { ChainUnavailable } from '../../../src/chains/node/nodes.ts';
import { auditWorker, createOutflowCheck } from '../../../src/workers/payouts/audit.ts';
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

describe('comparing outflows of the treasury with the log before payouts', () => {
  const read = { unknown: 0, unseenBefore: null };

  it('happens once', async () => {
    const { round, around } = compared([read]);
    await round(0);
    await round(60);
    assert.deepEqual(around, { compared: 1, alarms: [] });
  });

  it('is repeated each minute, with an alarm, while no node can answer; payouts do not wait for it', async () => {
    const { round, around } = compared([new ChainUnavailable(900, []), read]);
    await round(0);
    await round(0.5);
    assert.deepEqual(around, { compared: 1, alarms: ['outflowsUnseen'] });
    await round(1);
    await round(2);
    assert.deepEqual(around, { compared: 2, alarms: ['outflowsUnseen'] });
  });

  it('is repeated in the next round, without an alarm, when the log was unavailable; payouts wait for it', async () => {
    const { round, around } = compared([new Unavailable('the event store does not answer'), read]);
    await assert.rejects(round(0), Unavailable);
    await round(0.1);
    await round(2);
    assert.deepEqual(around, { compared: 2, alarms: [] });
  });
});

type Comparison = Awaited<ReturnType<Parameters<typeof createOutflowCheck>[0]['compare']>>;

function compared(answers: readonly (Comparison | Error)[]) {
  const around = { compared: 0, alarms: [] as string[] };
  let now = minute(0);
  const check = createOutflowCheck({
    clock: { now: () => now },
    async compare() {
      const answer = answers[around.compared++];
      assert.ok(answer, 'no further comparison is expected');
      if (answer instanceof Error) throw answer;
      return answer;
    },
    alarm: (reason) => void around.alarms.push(reason),
  });
  const round = async (minutes: number) => {
    now = minute(minutes);
    await check();
  };
  return { round, around };
}

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
