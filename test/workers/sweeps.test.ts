import assert from 'node:assert/strict';
import { PayoutBlocked } from '../../commands/transferPorts.ts';
import { minute_ms, plus } from '../../domain/time.ts';
import { type SweepSummary, sweepsWorker } from '../../src/workers/treasury/sweeps.ts';
import { all, chainId, sweptWorld, usd, usdc } from '../commands/sweeps/world.ts';
import { minute } from '../support/payments.ts';

const every_ms = 60 * minute_ms;
const { signal } = new AbortController();

describe('sweeps by schedule', () => {
  function scheduled() {
    const world = sweptWorld();
    const [told, waited]: [SweepSummary[], string[]] = [[], []];
    const worker = sweepsWorker({
      chains: new Map([[chainId, { deps: world.depsOf(), limits: { ...all, least_microUsd: usd(5) } }]]),
      every_ms,
      tell: (_, summary) => told.push(summary),
      waits: (_, why) => waited.push(why),
    });
    return { world, worker, told, waited };
  }

  it('sweep profitable deposits, and report it', async () => {
    const { world, worker, told } = scheduled();
    world.given(usdc, 9, 1, 7);
    await worker.act(chainId, signal);
    assert.deepEqual(told, [{ deposits: 3, ordered: 1, done: 1, calledOff: 0 }]);
    assert.equal((await world.operations()).length, 1);
  });

  it('are due at the start, and again when their time has come', async () => {
    const { worker, told } = scheduled();
    assert.deepEqual(await worker.due(9, minute(0)), [chainId]);
    await worker.act(chainId, signal);
    assert.deepEqual(await worker.due(9, minute(1)), []);
    const next = worker.nextDue?.(minute(1));
    assert.ok(next);
    assert.deepEqual(await worker.due(9, plus(next, 1)), [chainId]);
    assert.deepEqual(told, [], 'nothing was there');
  });

  it('wait for their next time while gas is too dear', async () => {
    const { world, worker, waited } = scheduled();
    world.sweep.ready = async () => {
      throw new PayoutBlocked('gas', 'gas is dear');
    };
    await worker.act(chainId, signal);
    assert.deepEqual(waited, ['gas is dear']);
    assert.deepEqual(await worker.due(9, minute(1)), []);
  });

  it('remain due when the chain does not answer: the worker tries again', async () => {
    const { world, worker } = scheduled();
    world.sweep.ready = async () => {
      throw new Error('no node answers');
    };
    await assert.rejects(worker.act(chainId, signal), /no node answers/);
    assert.deepEqual(await worker.due(9, minute(1)), [chainId]);
  });
});
