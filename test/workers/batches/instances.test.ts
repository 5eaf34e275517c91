import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRefusal } from '../../../domain/decider.ts';
import { StepRefused } from '../../../src/workers/payouts/worker.ts';
import { Crashed } from '../../support/processes.ts';
import { type BatchWorld, batchWorld } from './world.ts';

const count = 4;
const instances = 3;

/** Returns the same numbers below `end` for the same seed. */
function chance(seed: number) {
  let state = seed;
  return (end: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * end);
  };
}
type Chance = ReturnType<typeof chance>;

/** Payments whose money may not leave: an operator holds them, or their payers get a refund. */
interface Stopped {
  readonly held: Set<number>;
  readonly bounced: Set<number>;
}

const mayFail = (error: unknown): void => {
  if (!(error instanceof StepRefused || error instanceof Crashed)) throw error;
};

/** A process that does all due work, and is restarted at times. */
async function run(world: BatchWorld, pick: Chance, goesOn: () => boolean): Promise<void> {
  let instance = world.instance();
  while (goesOn()) {
    if (pick(12) === 0) instance = world.instance();
    const keys = await world.keys();
    const key = keys[pick(keys.length)] ?? assert.fail('there is nothing to do');
    const { open, tend, audit, act } = instance;
    const work = [open, tend, () => audit(key)][pick(10)] ?? (() => act(key));
    await work().then(() => {}, mayFail);
  }
}

/** Blocks, time, refusals and operators, while the instances work. */
async function outside(world: BatchWorld, pick: Chance, stopped: Stopped, pause: () => Promise<void>): Promise<void> {
  const { chain, around } = world;
  for (let moves = 0; moves < 60; moves += 1) {
    for (let pauses = 0; pauses < 4; pauses += 1) await pause();
    const n = 1 + pick(count);
    const move = pick(12);
    if (move < 3) chain.mine(pick(4) !== 0);
    else if (move === 3) chain.unmine();
    else if (move === 4) around.refuses = pick(2) === 0 ? n : null;
    else if (move === 5) around.crashIn = pick(20);
    else if (move < 8) world.pass([1_000, 31_000, 100_000][pick(3)] ?? 0);
    else if (move === 8) await hold(world, n, stopped);
    else if (move === 9 && !isRefusal(await world.bounce(n))) stopped.bounced.add(n);
    check(world, stopped);
  }
}

async function hold(world: BatchWorld, n: number, { held }: Stopped): Promise<void> {
  const answer = await world.hold(n);
  const { payout } = await world.payment(n);
  if (!isRefusal(answer) && !payout?.attempts.some(({ fate }) => fate !== 'dead')) held.add(n);
}

function check(world: BatchWorld, { held, bounced }: Stopped): void {
  for (const n of world.numbers) assert.ok(world.paid(n) <= 1, `payment ${n} was paid once at most`);
  for (const n of held) assert.equal(world.paid(n), 0, `payment ${n} was held before anything could land`);
  for (const n of bounced) assert.equal(world.paid(n), 0, `what came for payment ${n} goes back`);
}

/** From now on nothing fails. */
async function finish(world: BatchWorld): Promise<void> {
  world.around.refuses = null;
  for (let rounds = 0; rounds < 30; rounds += 1) {
    for (const n of world.numbers) await world.letGo(n);
    await world.actAll();
    await world.tend();
    while (world.chain.mine(true));
    world.pass(3_700_000);
    await world.audit();
  }
}

describe('payouts of several instances at once, in batches and alone', () => {
  it('are made once each, none that is held or refunded, and no account stops', async () => {
    const ways = fc.integer({ min: 1, max: 1_000_000 });
    const tryOne = async (seed: number): Promise<void> => {
      const pick = chance(seed);
      const pause = async () => {
        for (let ticks = pick(1 + pick(12)); ticks > 0; ticks -= 1) await new Promise(setImmediate);
      };
      const world = await batchWorld(count, pause);
      const stopped: Stopped = { held: new Set(), bounced: new Set() };
      let goesOn = true;
      const running = Array.from({ length: instances }, () => run(world, pick, () => goesOn));
      const ended = outside(world, pick, stopped, pause).finally(() => {
        [goesOn, world.around.crashIn] = [false, null];
      });
      await Promise.all([ended, ...running]);
      check(world, stopped);
      await finish(world);
      for (const n of world.numbers) assert.equal(world.paid(n), stopped.bounced.has(n) ? 0 : 1, `payment ${n}`);
    };
    await fc.assert(fc.asyncProperty(ways, tryOne), { numRuns: 40 });
  });
});
