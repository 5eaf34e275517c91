import assert from 'node:assert/strict';
import fc from 'fast-check';
import { verifyChain } from '../../commands/codec.ts';
import { expirePayment, recordOrphan, recordPayin } from '../../commands/recordPayin.ts';
import { isRefusal } from '../../domain/decider.ts';
import { transferId } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import type { Instant } from '../../domain/time.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { minute, payin, unpaid } from '../support/payments.ts';
import { accepted, Crashed, crashAt, processes } from '../support/processes.ts';

const payment = { paymentId: 'p', appId: 'wallet_demo' };
const stream = 'payment-p';

async function world(store = memoryEventStore()) {
  const { start, clock, time, typesIn } = processes({ store });
  await accepted(start()(paymentDecider, 'p', () => unpaid, { cause: 'worker:test', appId: payment.appId }));
  const deps = (handle = start()) => ({ handle, clock });
  return { start, deps, time, typesIn, store };
}

describe('recording a payin', () => {
  it('writes the transfer, and the cause', async () => {
    const { deps, store, time } = await world();
    time.now = minute(6);
    await accepted(recordPayin(deps(), payment, { transfer: payin(), final: true }));
    const events = await store.read(stream);
    assert.deepEqual(
      events.slice(1).map(({ type, metadata }) => [type, metadata.cause, metadata.appId, metadata.at]),
      ['PayinDetected', 'PayinConfirmed', 'PaymentFunded'].map((type) => [
        type,
        `worker:payins payin 8453:${payin().txHash}`,
        'wallet_demo',
        minute(6),
      ]),
    );
    assert.equal(verifyChain(events), null);
  });

  it('twice writes it once, so that a scan may begin again anywhere', async () => {
    const { deps, typesIn } = await world();
    for (const final of [false, false, true, true, false]) {
      await accepted(recordPayin(deps(), payment, { transfer: payin(), final }));
    }
    assert.deepEqual(await typesIn(stream), ['PaymentCreated', 'PayinDetected', 'PayinConfirmed', 'PaymentFunded']);
  });

  it('is the same after a crash before or after its append', async () => {
    const names = 'PayinDetected+PayinConfirmed+PaymentFunded';
    for (const point of [`${names}.beforeAppend`, `${names}.afterAppend`]) {
      const { deps, start, typesIn } = await world();
      const sighting = { transfer: payin(), final: true };
      await assert.rejects(recordPayin(deps(start({ crash: crashAt(point) })), payment, sighting), Crashed);
      await accepted(recordPayin(deps(), payment, sighting));
      assert.deepEqual(await typesIn(stream), ['PaymentCreated', ...names.split('+')], point);
    }
  });

  it('by the head and the final pass at once, with a second part, funds it once', async () => {
    const [part, rest] = [payin({ amount: '4.00' }), payin({ amount: '6.01', tx: 'rest' })];
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (order) => {
        let scheduled = false;
        const at = (name: string) => (scheduled ? order.schedule(Promise.resolve(), name).then(() => {}) : undefined);
        const { deps, store } = await world(memoryEventStore({ at }));
        scheduled = true;
        const passes = Promise.all([
          recordPayin(deps(), payment, { transfer: part, final: false }),
          recordPayin(deps(), payment, { transfer: part, final: true }),
          recordPayin(deps(), payment, { transfer: rest, final: true }),
        ]);
        await order.waitIdle();
        for (const outcome of await passes) assert.ok(!isRefusal(outcome));
        scheduled = false;
        const events = await store.read(stream);
        const count = (type: string) => events.filter((event) => event.type === type).length;
        assert.deepEqual(['PayinDetected', 'PayinConfirmed', 'PaymentFunded'].map(count), [2, 2, 1]);
        assert.equal(verifyChain(events), null);
      }),
      { numRuns: 100 },
    );
  });

  it('reports that the payment is not in the log', async () => {
    const { deps } = await world();
    const stranger = { paymentId: 'nobody', appId: 'wallet_demo' };
    const refusal = await recordPayin(deps(), stranger, { transfer: payin(), final: true });
    assert.equal(isRefusal(refusal) && refusal.refused, 'paymentNotFound');
  });
});

describe('recording that a payin left the chain', () => {
  it('names the block, and is done once', async () => {
    const { deps, store, typesIn } = await world();
    await accepted(recordPayin(deps(), payment, { transfer: payin(), final: false }));
    const gone = { transferId: transferId(payin()), blockHash: payin().blockHash };
    for (let times = 0; times < 2; times += 1) await accepted(recordOrphan(deps(), payment, gone));
    assert.deepEqual(await typesIn(stream), ['PaymentCreated', 'PayinDetected', 'PayinOrphaned']);
    const [, , orphaned] = await store.read(stream);
    assert.deepEqual(orphaned?.data, gone);
    assert.equal(orphaned?.metadata.cause, `worker:payins orphaned ${gone.blockHash}`);
  });

  it('writes only the known fields, though callers pass more', async () => {
    const { deps, store } = await world();
    await accepted(recordPayin(deps(), payment, { transfer: payin(), final: false }));
    const row = { ...payment, transferId: transferId(payin()), blockHash: payin().blockHash, txHash: payin().txHash };
    await accepted(recordOrphan(deps(), payment, row));
    const [, , orphaned] = await store.read(stream);
    assert.deepEqual(Object.keys(orphaned?.data as object), ['transferId', 'blockHash']);
  });
});

/** Progress of the scan of the payment's chain. */
const reached = (at: Instant) => new Map([[8453, at] as const]);

describe('expiring a payment', () => {
  it('obeys the chain’s time, and states the scanned time', async () => {
    const { deps, store, time, typesIn } = await world();
    time.now = minute(600);
    const early = await expirePayment(deps(), payment, reached(minute(60)));
    assert.equal(isRefusal(early) && early.refused, 'illegalStep');
    for (let times = 0; times < 2; times += 1) await accepted(expirePayment(deps(), payment, reached(minute(61))));
    assert.deepEqual(await typesIn(stream), ['PaymentCreated', 'PaymentExpired']);
    const [, expired] = await store.read(stream);
    assert.deepEqual(expired?.data, { chainTime: minute(61), expiredAt: minute(600) });
    assert.equal(expired?.metadata.cause, `worker:expiry final scan reached ${minute(61)}`);
  });

  it('loses against a payin that is recorded at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (order) => {
        let scheduled = false;
        const at = (name: string) => (scheduled ? order.schedule(Promise.resolve(), name).then(() => {}) : undefined);
        const { deps, typesIn } = await world(memoryEventStore({ at }));
        scheduled = true;
        const race = Promise.all([
          expirePayment(deps(), payment, reached(minute(61))),
          recordPayin(deps(), payment, { transfer: payin(), final: true }),
        ]);
        await order.waitIdle();
        await race;
        scheduled = false;
        const types = await typesIn(stream);
        const [expired, funded, bounced] = ['PaymentExpired', 'PaymentFunded', 'PaymentBounced'].map((type) =>
          types.includes(type),
        );
        assert.ok(expired !== funded, 'one or the other');
        assert.equal(bounced, expired, 'money that came too late for it is not lost: it bounces');
      }),
      { numRuns: 50 },
    );
  });
});
