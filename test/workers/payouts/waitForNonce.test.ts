/** An account has at most sixteen outstanding nonces: transfers are prepared while they wait for one. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRefusal } from '../../../domain/decider.ts';
import { pausePayouts } from '../../../domain/treasury/nonces.ts';
import { outstandingMax, type TreasuryState, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { serializeByKey } from '../../../src/lib/concurrency.ts';
import { mustWait } from '../../../src/workers/payouts/sign.ts';
import { minute, treasuryAccount } from '../../support/payments.ts';
import { accepted } from '../../support/processes.ts';
import { assignments, look_ms, signingWorld } from './signing.ts';

const firstNonce = 7n;
const each = 10_000000n;
const second = 1_000;

describe('a transfer whose account has no free nonce', () => {
  /** This number of payouts, of which the first sixteen are signed and not mined. `looked` runs at each read of the account. */
  async function fullAccount(payouts: number, looked: (looks: number) => Promise<void> | void = () => {}) {
    const payments = Array.from({ length: payouts }, (_, n) => `payment-${n}`);
    const world = await signingWorld({ payments });
    const turn = serializeByKey();
    world.around.inTurn = (work) => turn('treasury', work);
    let looks = 0;
    world.clock.sleep = async (duration_ms: number) => {
      if (duration_ms !== look_ms) return;
      await looked(++looks);
      world.pass(look_ms);
    };
    const waiting = payments.splice(outstandingMax);
    for (const paymentId of payments) await accepted(world.sign({ paymentId }));
    return { ...world, waiting, looks: () => looks };
  }
  const waitsFor = async (paymentId: string, world: Awaited<ReturnType<typeof fullAccount>>) =>
    mustWait(world, await world.outgoing(paymentId), second)?.refused;

  it('is prepared, and signed as soon as one is mined', async () => {
    const world = await fullAccount(17, (looks) => {
      if (looks === 3) world.around.minedNonce = firstNonce + 1n;
    });
    await accepted(world.sign({ paymentId: 'payment-16' }));
    assert.equal(world.looks(), 3);
    assert.equal(world.around.orders.length, 17, 'each was prepared once');
    assert.equal((await assignments(world)).at(-1), '23 payout payment-16 1');
  });

  it('waits for as long as the prepared transaction is valid, and leaves nothing behind', async () => {
    const world = await fullAccount(17);
    const refusal = await world.sign({ paymentId: 'payment-16' });
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryBusy');
    assert.deepEqual([world.looks(), world.memory.waiting.size], [15, 0]);
    assert.equal(world.memory.reserved.take('another', '', 0n), 0n);
  });

  it('waits for no longer where nodes do not answer', async () => {
    const world = await fullAccount(17, () => {
      world.around.atNode = () => assert.fail('no node answers');
    });
    const refusal = await world.sign({ paymentId: 'payment-16' });
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryBusy');
    assert.equal(world.looks(), 1);
  });

  it('is not signed when payouts are paused meanwhile', async () => {
    const pause = (state: TreasuryState) => pausePayouts(state, 'audit', minute(1));
    const instance = treasuryInstance(1, treasuryAccount);
    const world = await fullAccount(17, async () => {
      world.around.minedNonce = firstNonce + 1n;
      await accepted(world.start()(treasury, instance, pause, { cause: 'worker:test', appId: null }));
    });
    const refusal = await world.sign({ paymentId: 'payment-16' });
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryPaused');
    assert.equal(world.around.signatures, 16);
  });

  it('keeps its reservation from others', async () => {
    let tried: Promise<unknown> | undefined;
    const world = await fullAccount(18, (looks) => {
      if (looks === 1) tried = world.sign({ paymentId: 'payment-17' });
      if (looks === 5) world.around.minedNonce = firstNonce + 1n;
    });
    world.around.float = 17n * each;
    await accepted(world.sign({ paymentId: 'payment-16' }));
    await assert.rejects(tried ?? assert.fail(), { reason: 'float' });
  });

  it('may wait while a nonce will be free for it; otherwise it is refused at once, and must be repeated later', async () => {
    const mined = Promise.withResolvers<void>();
    const world = await fullAccount(34, () => mined.promise);
    const waiting = world.waiting.slice(0, outstandingMax).map((paymentId) => world.sign({ paymentId }));
    while (world.around.orders.length < 2 * outstandingMax) await new Promise(setImmediate);
    assert.deepEqual(
      [await waitsFor('payment-33', world), await waitsFor('payment-0', world)],
      ['treasuryBusy', undefined],
    );
    const refusal = await world.sign({ paymentId: 'payment-33' });
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryBusy');
    assert.equal(world.around.orders.length, 2 * outstandingMax, 'it was not prepared');
    world.pass(second);
    assert.equal(await waitsFor('payment-33', world), undefined);
    world.around.minedNonce = firstNonce + BigInt(outstandingMax);
    mined.resolve();
    await Promise.all(waiting.map(accepted));
  });

  it('gets one of its own, in any order of mining, with no more than sixteen in flight', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { minLength: 10, maxLength: 10 }), async (steps) => {
        const world = await fullAccount(30, async (looks) => {
          const signed = firstNonce + BigInt((await assignments(world)).length);
          const mined = (world.around.minedNonce ?? 0n) + BigInt(steps[looks - 1] ?? outstandingMax);
          world.around.minedNonce = mined < signed ? mined : signed;
        });
        await Promise.all(world.waiting.map((paymentId) => accepted(world.sign({ paymentId }))));
        const given = (await assignments(world)).map((text) => Number(text.split(' ')[0]));
        assert.deepEqual(
          given,
          Array.from({ length: 30 }, (_, n) => Number(firstNonce) + n),
        );
        assert.deepEqual([world.around.signatures, world.around.orders.length], [30, 30]);
      }),
      { numRuns: 30 },
    );
  });
});
