import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import { batchWorld, type BatchWorld as World } from './world.ts';

async function send(world: World): Promise<void> {
  const [id = ''] = await world.batchIds();
  await world.act({ kind: 'batch', id, part: 1 });
}

/** Signed and sent; then another transaction used its nonce, and no node has that transaction any more. */
async function lostBatch() {
  const world = await batchWorld(3);
  await world.open();
  await send(world);
  assert.equal((await world.batch()).leg.attempts.length, 1);
  world.chain.useUp();
  world.chain.forget();
  return world;
}

async function goOn(world: World): Promise<void> {
  world.around.crashIn = null;
  for (let round = 0; round < 8; round += 1) {
    await world.actAll();
    world.pass(31_000);
    await world.tend();
    while (world.chain.mine(true));
  }
}

const refusal = async (world: World) => {
  const answer = await world.bury();
  return isRefusal(answer) ? answer.refused : 'none';
};

describe('a batch that an operator ends', () => {
  it('releases its payouts, which are made automatically, once each, wherever a process dies meanwhile', async () => {
    let [died, place] = [true, 0];
    for (; died; place += 1) {
      const world = await lostBatch();
      world.around.crashIn = place;
      await world.surviving(world.bury);
      for (let round = 0; round < 2; round += 1) await world.surviving(world.actAll);
      died = world.around.crashIn === null;
      world.around.crashIn = null;
      await world.bury();
      await goOn(world);
      assert.equal((await world.batch()).dissolved, 'no explorer has it', `died at place ${place}`);
      for (const n of world.numbers) {
        assert.equal(world.paid(n), 1, `payment ${n}, died at place ${place}`);
        const { payout, batch } = await world.payment(n);
        assert.deepEqual([payout?.attempts.map(({ fate }) => fate), batch], [['dead', 'settled'], null]);
      }
    }
    assert.ok(place > 8, 'there were places to die at');
  });

  it('is over at once where nothing was signed for it, and ended again changes nothing', async () => {
    const world = await batchWorld(3);
    await world.open();
    assert.equal(await refusal(world), 'none');
    assert.equal(await refusal(world), 'none');
    await goOn(world);
    assert.deepEqual(world.numbers.map(world.paid), [1, 1, 1]);
    assert.deepEqual((await world.batch()).leg.attempts, []);
  });

  it('is ignored while it can land, while nodes know its result, and if it is no batch', async () => {
    const world = await batchWorld(3);
    assert.equal(await refusal(world), 'notFound');
    await world.open();
    await send(world);
    assert.equal(await refusal(world), 'illegalStep', 'it can land');
    world.chain.mine(true);
    assert.equal(await refusal(world), 'illegalStep', 'it has landed');
    await goOn(world);
    assert.equal(await refusal(world), 'illegalStep', 'that is recorded');
    assert.deepEqual(world.numbers.map(world.paid), [1, 1, 1]);
  });
});
