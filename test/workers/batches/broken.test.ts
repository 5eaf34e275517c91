import assert from 'node:assert/strict';
import { type BatchWorld, batchWorld } from './world.ts';

async function goOn(world: BatchWorld): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    for (const key of await world.keys()) await world.act(key).catch(ignoreBroken);
    world.pass(100_000);
    await world.tend();
    while (world.chain.mine(true));
  }
}

const ignoreBroken = (error: Error): void => assert.equal(error.name, 'ChainBroken');

describe('a payment in a batch, with foreign events in its stream', () => {
  it('is not paid, and the others do not wait for it: before it was asked whether it joins', async () => {
    const world = await batchWorld(3);
    await world.open();
    world.breakStream(2);
    await goOn(world);
    assert.deepEqual([1, 2, 3].map(world.paid), [1, 0, 1]);
  });

  it('nor when it had joined, and nothing was signed', async () => {
    const world = await batchWorld(3);
    await world.open();
    world.around.crashIn = 8;
    await world.act({ kind: 'batch', id: (await world.batchIds())[0] ?? '', part: 1 });
    assert.ok((await world.payment(2)).batch, 'it is in the batch');
    assert.equal((await world.batch()).leg.attempts.length, 0);
    world.breakStream(2);
    await goOn(world);
    assert.deepEqual([1, 2, 3].map(world.paid), [1, 0, 1]);
  });
});
