import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import type { RebalanceEvent } from '../../../domain/rebalance/events.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
import { rebalance, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import { plus } from '../../../domain/time.ts';
import { arrivalsWorker } from '../../../src/workers/rebalances/attend.ts';
import { hashOf, minute } from '../../support/payments.ts';
import { accepted, Crashed, crashAt, processes } from '../../support/processes.ts';
import {
  attested,
  burnConfirmed,
  burnSigned,
  landed,
  mintConfirmed,
  mintSigned,
  ordered,
  thousand,
} from '../../support/rebalances.ts';
import { arrived, sendOrder, sendSigned } from '../../support/usdt0.ts';

const { signal } = new AbortController();
const hash = hashOf('arrival');
const { blockNumber, blockHash } = landed('mint');
const byOther: RebalanceEvent = {
  type: 'MintedByOther',
  data: { hash, blockNumber, blockHash, received: thousand.toString(), seenAt: minute(6) },
};
const byCctp = [ordered(), burnSigned(), burnConfirmed(), attested(), byOther];
const byUsdt0 = [ordered(sendOrder()), sendSigned(), burnConfirmed(), arrived()];

describe('rechecking arrivals that the treasury did not send', () => {
  it('leaves one whose block remains', async () => {
    const { worker, around, standing } = await arriving(byUsdt0);
    await worker.act('a', signal);
    assert.equal(await standing(), 'done');
    assert.deepEqual(around.asked, [{ hash, blockHash, blockNumber: 9n }]);
    assert.deepEqual(around.alarms, []);
  });

  it('puts the money of USDT0 in transit again, and notifies the operator once', async () => {
    const { worker, around, load, standing } = await arriving(byUsdt0);
    around.stands = false;
    await Promise.all([worker.act('a', signal), worker.act('a', signal)]);
    assert.equal(await standing(), 'sent');
    assert.equal(transitOf(await load()).inTransit, 100_000_000n);
    assert.deepEqual(around.alarms, [{ id: 'a', chainId: 1, hash }]);
    await worker.act('a', signal);
    assert.equal(around.alarms.length, 1);
  });

  it('lets the treasury mint a message of CCTP itself', async () => {
    const { worker, around, load, standing } = await arriving(byCctp);
    around.stands = false;
    await worker.act('a', signal);
    assert.equal(await standing(), 'attested');
    assert.equal(transitOf(await load()).inTransit, thousand);
  });

  it('queries no chain for its own mints, nor for money in transit', async () => {
    for (const history of [[...byCctp.slice(0, 4), mintSigned(), mintConfirmed()], byUsdt0.slice(0, 3)]) {
      const { worker, around } = await arriving(history);
      around.stands = false;
      await worker.act('a', signal);
      assert.deepEqual(around.asked, []);
    }
  });

  it('records nothing if its process dies before the append; the next process does', async () => {
    const { workerOf, worker, around, standing } = await arriving(byUsdt0);
    around.stands = false;
    const dying = workerOf(crashAt('MintByOtherOrphaned.beforeAppend'));
    await assert.rejects(dying.act('a', signal), Crashed);
    assert.equal(await standing(), 'done');
    await worker.act('a', signal);
    assert.equal(await standing(), 'sent');
  });

  it('checks those of the last hour, each every ten minutes', async () => {
    const { worker, around } = await arriving(byUsdt0);
    const due = (now: number) => worker.due(10, minute(now));
    assert.deepEqual(await due(20), ['a']);
    assert.equal(around.since, plus(minute(20), -3_600_000));
    assert.deepEqual(await due(29), []);
    assert.deepEqual(await due(30), ['a']);
  });
});

async function arriving(history: readonly RebalanceEvent[]) {
  const world = processes({ now: minute(20) });
  await accepted(world.start()(rebalance, 'a', () => history, { cause: 'worker:test', appId: null }));
  const around = { stands: true, asked: [] as unknown[], alarms: [] as unknown[], since: '' };
  const workerOf = (crash?: CrashPoint) =>
    arrivalsWorker({
      ...{ handle: world.start(crash && { crash }), clock: world.clock },
      railOn: () => ({
        async stillFinal(settled) {
          around.asked.push(settled);
          return around.stands;
        },
      }),
      async arrivedSince(since) {
        around.since = since;
        return ['a'];
      },
      alarm: (orphaned) => void around.alarms.push(orphaned),
    });
  const load = async () => {
    const state = await currentState(world.start(), rebalance, 'a');
    assert.ok(state);
    return state;
  };
  const standing = async () => rebalanceStanding(await load());
  return { workerOf, worker: workerOf(), around, load, standing };
}
