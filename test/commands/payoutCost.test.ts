/** A payment's fee covers the cost of its payout: on a chain with an expensive coin, or for a receiver without an account. */
import assert from 'node:assert/strict';
import { type PayoutCostOf, quotePayment } from '../../commands/createPayment.ts';
import { Unavailable } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PaymentCreated } from '../../domain/payment/events.ts';
import { order, refusal, sale, wallet, world } from './creating.ts';

const usd = (text: string): bigint => BigInt(Math.round(Number(text) * 1e6));
const costing =
  (cost: string, least = '0.005', opensAccount?: boolean): PayoutCostOf =>
  async () => ({
    cost_microUsd: usd(cost),
    least_microUsd: usd(least),
    ...(opensAccount !== undefined && { opensAccount }),
  });
const accepted = async (answer: ReturnType<ReturnType<typeof world>['create']>): Promise<PaymentCreated> => {
  const created = await answer;
  return isRefusal(created) ? assert.fail(created.message) : created.payment.terms;
};
const inUsd = (units: string | null | undefined, decimals = 6) => formatAmount(BigInt(units ?? 0), decimals);
const payoutOf = (amount: string) => order({ destination: { ...order().destination, amount } });

describe('the cost of a payout', () => {
  it('is in the usual fee where that covers it', async () => {
    const { source, fee } = await accepted(world({ payoutCostOf: costing('0.01') }).create(order()));
    assert.deepEqual([inUsd(source.amount), inUsd(fee.fixed)], ['10.01', '0.01']);
  });

  it('is the fee if the usual one does not cover it, fixed with the payment: the treasury pays no rent or gas', async () => {
    const { source, fee, opensAccount } = await accepted(
      world({ payoutCostOf: costing('0.408857', '0.005', true) }).create(payoutOf('1')),
    );
    assert.deepEqual([inUsd(source.amount), inUsd(fee.fixed), opensAccount], ['1.408857', '0.408857', true]);
  });

  it('is the minimum payout: a payment of 0.000001 is refused, with the amount that suffices', async () => {
    const dear = { payoutCostOf: costing('0.408857', '0.005', true) };
    const { create } = world(dear);
    for (const amount of ['0.000001', '0.408856']) {
      const answer = await create(payoutOf(amount));
      assert.ok(isRefusal(answer) && answer.pointer === '/destination/amount');
      assert.match(answer.message, /at least 0\.408857 USDC/);
    }
    assert.equal(await refusal(payoutOf('0.000001'), wallet, dear), 'invalidRequest /destination/amount');
    await accepted(create(payoutOf('0.408857')));
    const cheap = world({ payoutCostOf: costing('0.0001') });
    const tiny = await cheap.create(payoutOf('0.004999'));
    assert.ok(isRefusal(tiny) && /at least 0\.005 USDC/.test(tiny.message));
  });

  it('is stated as the required payin, if the request states the payin', async () => {
    const { create } = world({ payoutCostOf: costing('1.5') });
    const sold = (amount: string) => create(order({ type: 'exactIn', ...given(amount) }));
    const given = (amount: string) => ({
      source: { ...sale().source, amount },
      destination: { ...order().destination, amount: undefined },
    });
    const answer = await sold('2.999999');
    assert.ok(isRefusal(answer) && answer.pointer === '/source/amount');
    assert.match(answer.message, /at least 3\.00 USDC/);
    const { destination } = await accepted(sold('3'));
    assert.equal(inUsd(destination.amount), '1.50');
  });

  it('is in the minimum of anyAmount, and in the fee of every source that a payer may choose', async () => {
    const { create } = world({ payoutCostOf: costing('0.25') });
    const destination = { ...order().destination, amount: undefined };
    const payFrom = [{ chainId: 56, tokenSymbol: 'USDC' }];
    const any = await accepted(create(order({ orderId: 'any', type: 'anyAmount', destination, payFrom })));
    assert.equal(inUsd(any.limits?.min), '0.50');
    const [bnb] = any.alternatives ?? [];
    assert.deepEqual([inUsd(bnb?.limits?.min, 18), inUsd(bnb?.fee.fixed, 18)], ['0.50', '0.25']);
    const exact = await accepted(create(order({ payFrom })));
    assert.deepEqual(
      exact.alternatives?.map(({ amount }) => inUsd(amount, 18)),
      ['10.25'],
    );
  });

  it('prevents a creation while it is unknown, and existing payments are returned', async () => {
    const untold = { payoutCostOf: () => Promise.reject(new Unavailable('no node answers')) };
    assert.equal(await refusal(order(), wallet, untold), 'unavailable');
    const { create } = world();
    const terms = await accepted(create(order()));
    assert.deepEqual(await accepted(create(order(), wallet, untold)), terms);
    const dearer = { payoutCostOf: costing('100') };
    assert.deepEqual(await accepted(create(order(), wallet, dearer)), terms);
  });

  it('is stated before anything is created: the same amounts, and nothing is written or reserved', async () => {
    const taken: string[] = [];
    const { deps, create, store } = world({
      payoutCostOf: costing('0.25'),
      takePlace: async (appId) => void taken.push(appId),
    });
    const quote = await quotePayment(deps, order(), wallet, { keyless: true });
    assert.ok(!isRefusal(quote));
    assert.deepEqual([await store.tail(), taken], [0n, []]);
    const { source, destination, fee, limits } = await accepted(create(order()));
    assert.deepEqual([quote.source, quote.destination, quote.fee, quote.limits], [source, destination, fee, limits]);
    const refused = await quotePayment(deps, payoutOf('0.1'), wallet, { keyless: true });
    assert.ok(isRefusal(refused) && refused.pointer === '/destination/amount');
  });
});
