import assert from 'node:assert/strict';
import { PayoutBlocked } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { minute_ms } from '../../../domain/time.ts';
import { pausePayouts } from '../../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import {
  attempt,
  hashOf,
  held,
  landed,
  lost,
  minute,
  orphaned,
  signed,
  treasuryAccount,
} from '../../support/payments.ts';
import { accepted, Crashed, crashAt } from '../../support/processes.ts';
import { signingWorld, treasuryStream } from './signing.ts';

const payments = Array.from({ length: 20 }, (_, n) => `payment-${n}`);
const [first, second, ...others] = payments as [string, string, ...string[]];
type World = Awaited<ReturnType<typeof signingWorld>>;
const refusalOf = async (answer: ReturnType<World['sign']>) => {
  const outcome = await answer;
  return isRefusal(outcome) ? outcome.refused : 'none';
};

describe('a nonce that nobody uses', () => {
  /** The first payment has nonce 7 and is not signed; fifteen wait behind it. */
  async function deadlocked() {
    const world = await signingWorld({ payments });
    const cutOff = () => assert.rejects(world.sign({ paymentId: first, crash: crashAt('payout.beforeSign') }), Crashed);
    await cutOff();
    for (const paymentId of others.slice(0, 15)) await accepted(world.sign({ paymentId }));
    return world;
  }

  it('is cancelled by a transaction that is sent until it lands, though the first sending is lost and all is busy', async () => {
    const world = await deadlocked();
    world.around.blocked = new PayoutBlocked('refusedByToken', 'frozen');
    world.around.dropsCancels = true;
    await assert.rejects(world.sign({ paymentId: first }), PayoutBlocked);
    world.around.blocked = null;
    assert.equal(await refusalOf(world.sign({ paymentId: second })), 'treasuryBusy');
    world.around.dropsCancels = false;
    for (const _ of [1, 2]) await world.tend();
    assert.deepEqual(world.around.cancelled, [7n, 7n]);
    world.around.minedNonce = 8n;
    await accepted(world.sign({ paymentId: second }));
  });

  it('is outbid while it does not land, more and more rarely', async () => {
    const world = await deadlocked();
    await world.record(first, [held()]);
    let signed = 0;
    for (let minutes = 1; minutes <= 30; minutes += 1) {
      world.pass(minute_ms);
      await world.tend();
      signed = (await world.typesIn(treasuryStream)).filter((type) => type === 'NonceCancelled').length;
    }
    assert.ok(signed > 3 && signed < 7, String(signed));
  });

  for (const [why, events] of [
    ['whose money left its chain', [orphaned(), lost()]],
    ['that an operator holds', [held()]],
  ] as const) {
    it(`is returned by a payment ${why}, which gets another when it continues`, async () => {
      const world = await deadlocked();
      await world.record(first, events);
      await world.tend();
      assert.deepEqual(world.around.cancelled, []);
      world.pass(minute_ms);
      await world.tend();
      assert.deepEqual(world.around.cancelled, [7n]);
    });
  }

  it('is ignored once its cancel is final', async () => {
    const world = await deadlocked();
    await world.record(first, [held()]);
    world.pass(minute_ms);
    await world.tend();
    const cost = { payer: treasuryAccount, fee: '21000' };
    world.around.fate = (sent) => ({
      ...landed({ attempt: 0, hash: sent.at(-1)?.hash ?? '' } as never),
      kind: 'final',
      blockNumber: 9n,
      cost,
    });
    for (const _ of [1, 2]) await world.tend();
    const { type, data } = (await world.store.read(treasuryStream)).at(-1) ?? {};
    assert.equal(type, 'NonceUsedUp');
    assert.deepEqual((data as { landed: { cost: object } }).landed.cost, cost);
    assert.deepEqual(world.around.cancelled, [7n]);
  });

  it('stops the account when it is used up by neither the cancel nor its payment', async () => {
    const world = await deadlocked();
    await world.record(first, [held()]);
    world.pass(minute_ms);
    await world.tend();
    const proof = { reason: 'nonceUsed', detail: `transaction ${hashOf('lost')} used nonce 7` } as const;
    world.around.fate = () => ({ kind: 'dead', attempts: [0], proof });
    await world.tend();
    world.around.minedNonce = 8n;
    assert.equal(await refusalOf(world.sign({ paymentId: second })), 'treasuryBehindChain');
    assert.deepEqual(await world.tend(), [`treasuryBehindChain ${treasuryAccount} 7`]);
  });

  for (const [what, sign] of [
    ['outbid its cancel', ({ tend }: World) => tend()],
    ['had signed its payment', ({ record }: World) => record(first, [signed(attempt())])],
  ] as const) {
    it(`stops no account when another instance ${what} while the chain was queried`, async () => {
      const world = await deadlocked();
      await world.record(first, [held()]);
      world.pass(minute_ms);
      await world.tend();
      const { fate: nothing } = world.around;
      world.around.fate = async () => {
        world.around.fate = nothing;
        world.pass(10 * minute_ms);
        await sign(world);
        const proof = { reason: 'nonceUsed', detail: `transaction ${hashOf('newest')} used nonce 7` } as const;
        return { kind: 'dead', attempts: [0], proof };
      };
      await world.tend();
      assert.equal((await world.typesIn(treasuryStream)).includes('NonceTaken'), false);
      assert.equal(world.around.fate, nothing);
    });
  }

  it('is reported after ten minutes, for every holder', async () => {
    const world = await deadlocked();
    world.pass(9 * minute_ms);
    assert.deepEqual(await world.tend(), []);
    world.pass(minute_ms);
    const stuck = await world.tend();
    assert.equal(stuck.length, 16);
    assert.equal(stuck[0], `nonceStuck ${treasuryAccount} 7`);
  });

  it('is not cancelled, and no cancel outbid, while payouts are paused; recorded ones are sent', async () => {
    const world = await deadlocked();
    await world.record(first, [held()]);
    const pause = (state: Parameters<typeof pausePayouts>[0]) => pausePayouts(state, 'incident', minute(1));
    const by = { cause: 'operator:ada', appId: null } as const;
    const instance = treasuryInstance(1, treasuryAccount);
    await accepted(world.start()(treasury, instance, pause, by));
    world.pass(minute_ms);
    await world.tend();
    assert.deepEqual(world.around.cancelled, []);

    const other = await deadlocked();
    await other.record(first, [held()]);
    other.pass(minute_ms);
    await other.tend();
    await accepted(other.start()(treasury, instance, pause, by));
    other.pass(20 * minute_ms);
    await other.tend();
    assert.deepEqual(other.around.cancelled, [7n, 7n]);
    assert.equal((await other.typesIn(treasuryStream)).filter((type) => type === 'NonceCancelled').length, 1);
  });
});
