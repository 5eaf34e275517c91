/** Transfers that query their chain concurrently and are signed one after the other. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { pausePayouts } from '../../../domain/treasury/nonces.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { serializeByKey } from '../../../src/lib/concurrency.ts';
import { minute, treasuryAccount } from '../../support/payments.ts';
import { accepted } from '../../support/processes.ts';
import { assignments, blockedByFloat, first, signingWorld } from './signing.ts';

/** Amount of one payout. */
const each = 10_000000n;
const instance = treasuryInstance(1, treasuryAccount);
const payments = [first, 'second', 'third'];

/** Payouts of one process, which signs them in turn. */
async function oneProcess() {
  const world = await signingWorld({ payments });
  const turn = serializeByKey();
  world.around.inTurn = (work) => turn('treasury', work);
  return world;
}

describe('payouts that are prepared concurrently', () => {
  it('query the chain before their turn, and in turn the log alone', async () => {
    const world = await oneProcess();
    const turn = world.around.inTurn;
    let inTurnNow = false;
    world.around.atChain = () => assert.equal(inTurnNow, false);
    world.around.inTurn = (work) =>
      turn?.(async () => {
        inTurnNow = true;
        return work().finally(() => {
          inTurnNow = false;
        });
      }) ?? assert.fail();
    await Promise.all(payments.map((paymentId) => accepted(world.sign({ paymentId }))));
    assert.deepEqual(
      (await assignments(world)).map((text) => text.split(' ')[0]),
      ['7', '8', '9'],
    );
    assert.equal(world.around.orders.length, 3);
  });

  it('use no more than the treasury holds, in any order of the chain’s answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.bigInt(0n, 4n * each), async (order, float) => {
        const world = await oneProcess();
        world.around.float = float;
        world.around.atChain = () => order.schedule(Promise.resolve(), 'balance').then(() => {});
        const all = Promise.allSettled(payments.map((paymentId) => world.sign({ paymentId })));
        await order.waitIdle();
        const outcomes = await all;
        const signed = outcomes.filter(({ status }) => status === 'fulfilled').length;
        assert.ok(BigInt(signed) * each <= float, `${signed} are signed of ${float}`);
        assert.equal((await assignments(world)).length, signed, 'a nonce is taken for nothing that cannot be paid');
        for (const outcome of outcomes)
          if (outcome.status === 'rejected') assert.equal((outcome.reason as PayoutBlocked).reason, 'float');
      }),
      { numRuns: 100 },
    );
  });

  it('use no more than that either if there are no nonces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.bigInt(0n, 4n * each), async (order, float) => {
        const world = await oneProcess();
        world.around.minedNonce = null;
        world.around.float = float;
        world.around.recorded = () => {
          world.around.unsettled += each;
        };
        world.around.atChain = () => order.schedule(Promise.resolve(), 'balance').then(() => {});
        const all = Promise.allSettled(payments.map((paymentId) => world.sign({ paymentId })));
        await order.waitIdle();
        const signed = (await all).filter(({ status }) => status === 'fulfilled').length;
        assert.equal(signed, world.around.signatures);
        assert.ok(BigInt(signed) * each <= float, `${signed} are signed of ${float}`);
        if (float >= 3n * each) assert.equal(signed, 3);
      }),
      { numRuns: 100 },
    );
  });

  it('release their reservation to others once they cannot be made', async () => {
    const world = await oneProcess();
    world.around.float = each;
    world.around.blocked = blockedByFloat;
    await assert.rejects(world.sign(), blockedByFloat);
    world.around.blocked = null;
    await accepted(world.sign({ paymentId: 'second' }));
  });

  describe('and wait for their turn', () => {
    /** @returns how often in total the money was proven, and the transfer prepared */
    async function afterWaiting(wait_ms: number) {
      const world = await oneProcess();
      world.around.inTurn = (work) => {
        world.pass(wait_ms);
        return work();
      };
      await accepted(world.sign());
      return [world.around.shown, world.around.orders.length];
    }

    it('for a moment are signed unchanged', async () => {
      assert.deepEqual(await afterWaiting(2_000), [1, 1]);
    });

    it('for longer have the money proven once more', async () => {
      assert.deepEqual(await afterWaiting(2_001), [2, 1]);
    });

    it('for long are prepared again: fees have changed', async () => {
      assert.deepEqual(await afterWaiting(15_001), [2, 2]);
    });

    it('are not signed once the money has left, nor without the signer’s consent', async () => {
      const world = await oneProcess();
      const left = new PayoutBlocked('fundingUnproven', 'its block has left');
      world.around.inTurn = (work) => {
        world.pass(3_000);
        world.around.left = left;
        return work();
      };
      await assert.rejects(world.sign(), left);
      assert.deepEqual(await assignments(world), []);
    });

    it('take no nonce when payouts were paused meanwhile', async () => {
      const world = await oneProcess();
      await accepted(world.sign());
      world.around.inTurn = async (work) => {
        const pause = (state: TreasuryState) => pausePayouts(state, 'audit', minute(1));
        await accepted(world.start()(treasury, instance, pause, { cause: 'worker:test', appId: null }));
        return work();
      };
      const outcome = await world.sign({ paymentId: 'second' });
      assert.equal(isRefusal(outcome) && outcome.refused, 'treasuryPaused');
      assert.equal((await assignments(world)).length, 1);
    });
  });
});
