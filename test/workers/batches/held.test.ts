import assert from 'node:assert/strict';
import { batchWorld } from './world.ts';

/** More than the number of crash points between opening a batch of three and sending it. */
const places = 40;

describe('a payout in a batch that an operator holds', () => {
  it('is not paid any more if its own stream has no attempt by then, wherever the process died before', async () => {
    let [shown, unpaid] = [0, 0];
    for (let place = 0; place < places; place += 1) {
      const world = await batchWorld(3);
      world.around.crashIn = place;
      await world.open();
      await world.act({ kind: 'batch', id: (await world.batchIds())[0] ?? '', part: 1 });
      world.around.crashIn = null;
      await world.hold(2);
      const isShown = ((await world.payment(2)).payout?.attempts.length ?? 0) > 0;
      for (let round = 0; round < 8; round += 1) {
        await world.actAll();
        world.pass(100_000);
        await world.tend();
        while (world.chain.mine(true));
      }
      if (isShown) shown += 1;
      else {
        unpaid += 1;
        assert.equal(world.paid(2), 0, `died at place ${place}: who paid it by hand has not paid it twice`);
      }
      assert.deepEqual([world.paid(1), world.paid(3)], [1, 1], `died at place ${place}: the others wait for nobody`);
    }
    assert.ok(shown > 0 && unpaid > 0, 'it was held before and after it was signed');
  });
});
