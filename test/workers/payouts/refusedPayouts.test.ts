import assert from 'node:assert/strict';
import { PayoutBlocked, SigningRefused } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { pausePayouts } from '../../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { minute, treasuryAccount } from '../../support/payments.ts';
import { accepted } from '../../support/processes.ts';
import { assignments, blockedByFloat, first, signingWorld, treasuryStream } from './signing.ts';

const isFloat = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'float';

type World = Awaited<ReturnType<typeof signingWorld>>;

describe('signing a payout takes no nonce and signs nothing', () => {
  const untouched = async ({ around, typesIn }: World) => {
    assert.equal(around.signatures, 0);
    assert.deepEqual(await typesIn(treasuryStream), []);
  };

  it('when the payout cannot be made now', async () => {
    const world = await signingWorld();
    world.around.blocked = blockedByFloat;
    await assert.rejects(world.sign(), blockedByFloat);
    await untouched(world);
  });

  for (const minedNonce of [7n, null]) {
    it(`when its money has left since it was proven, with${minedNonce === null ? 'out' : ''} nonces`, async () => {
      const world = await signingWorld();
      world.around.minedNonce = minedNonce;
      world.around.left = new PayoutBlocked('fundingUnproven', 'its block has just left the chain');
      await assert.rejects(world.sign(), world.around.left);
      assert.equal(world.around.signatures, 0);
      assert.ok(!(await world.typesIn(treasuryStream)).includes('NonceAssigned'));
    });
  }

  it('when the signer would refuse it', async () => {
    const world = await signingWorld();
    world.around.refusing = new SigningRefused('perHour', 'above the most that may be signed in an hour');
    await assert.rejects(world.sign(), world.around.refusing);
    await untouched(world);
  });

  it('while only one node states where the history of its account begins', async () => {
    const world = await signingWorld();
    world.around.provenNonce = null;
    const refusal = await world.sign();
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryBusy');
    await untouched(world);
    world.around.provenNonce = 7n;
    await accepted(world.sign());
    assert.deepEqual(await assignments(world), ['7 payout first 1']);
  });

  it('when the chain is ahead of the log', async () => {
    const world = await signingWorld({ payments: [first, 'second'] });
    await accepted(world.sign());
    world.around.minedNonce = 9n;
    const refusal = await world.sign({ paymentId: 'second' });
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryBehindChain');
    assert.equal(world.around.signatures, 1);
    assert.deepEqual(await assignments(world), ['7 payout first 1']);
  });

  it('no fee bump either, while payouts are paused', async () => {
    const world = await signingWorld();
    await accepted(world.sign());
    const pause = (state: Parameters<typeof pausePayouts>[0]) => pausePayouts(state, 'incident', minute(1));
    const instance = treasuryInstance(1, treasuryAccount);
    await accepted(world.start()(treasury, instance, pause, { cause: 'operator:ada', appId: null }));
    const refusal = await world.sign();
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryPaused');
    assert.equal(world.around.signatures, 1);
  });

  it('beyond the float less all signed and unmined payouts, after a restart too', async () => {
    const payments = Array.from({ length: 8 }, (_, n) => `payment-${n}`);
    const world = await signingWorld({ payments });
    world.around.float = 25_000000n;
    for (const paymentId of payments.slice(0, 2)) await accepted(world.sign({ paymentId }));
    for (const paymentId of payments.slice(2)) await assert.rejects(world.sign({ paymentId }), isFloat);
    const restarted = await signingWorld({ store: world.store, payments: [] });
    restarted.around.float = 25_000000n;
    await assert.rejects(restarted.sign({ paymentId: 'payment-2' }), isFloat);
    assert.equal(world.around.signatures, 2);
    // Both are mined: the balance proves it.
    world.around.minedNonce = 9n;
    world.around.float = 5_000000n;
    await assert.rejects(world.sign({ paymentId: 'payment-2' }), isFloat);
    world.around.float = 10_000000n;
    await accepted(world.sign({ paymentId: 'payment-2' }));
  });

  it('beyond the float less all signed and unsettled payouts, on a chain without nonces', async () => {
    const world = await signingWorld();
    world.around.minedNonce = null;
    world.around.float = 25_000000n;
    world.around.unsettled = 20_000000n;
    await assert.rejects(world.sign(), isFloat);
    world.around.unsettled = 15_000000n;
    await accepted(world.sign());
  });

  it('while payouts are paused', async () => {
    const world = await signingWorld({ payments: [first, 'second'] });
    await accepted(world.sign());
    const pause = (state: Parameters<typeof pausePayouts>[0]) => pausePayouts(state, 'audit', minute(1));
    const instance = treasuryInstance(1, treasuryAccount);
    await accepted(world.start()(treasury, instance, pause, { cause: 'worker:test', appId: null }));
    const refusal = await world.sign({ paymentId: 'second' });
    assert.equal(isRefusal(refusal) && refusal.refused, 'treasuryPaused');
    assert.equal(world.around.signatures, 1);
  });
});
