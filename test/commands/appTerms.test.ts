/** An app's own settings for fees and for wrong amounts: each payment keeps the settings of its creation. */
import assert from 'node:assert/strict';
import { createPayment, quotePayment } from '../../commands/createPayment.ts';
import { chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { FeeTier } from '../../domain/merchant/events.ts';
import { formatAmount } from '../../domain/money.ts';
import { holdAll } from '../../domain/payment/amountPolicy.ts';
import type { PaymentCreated } from '../../domain/payment/events.ts';
import { order, wallet, world } from './creating.ts';

const usual = { sourceChainId: null, destinationChainId: null, fixed_microUsd: '0', basisPoints: 0, belowCost: false };
const tier = (changed: Partial<FeeTier>): FeeTier => ({ ...usual, ...changed });
const dear = { payoutCostOf: async () => ({ cost_microUsd: 250_000n, least_microUsd: 5_000n }) };

const termsOf = async (creating: ReturnType<ReturnType<typeof world>['create']>): Promise<PaymentCreated> => {
  const created = await creating;
  return isRefusal(created) ? assert.fail(created.message) : created.payment.terms;
};
const fixedOf = ({ fee }: Pick<PaymentCreated, 'fee'>): string => formatAmount(BigInt(fee.fixed), 6);

describe('an app’s own fee', () => {
  const fees = [
    tier({ fixed_microUsd: '40000' }),
    tier({ destinationChainId: 1, fixed_microUsd: '30000' }),
    tier({ sourceChainId: 8453, fixed_microUsd: '20000' }),
    tier({ sourceChainId: 8453, destinationChainId: 1, fixed_microUsd: '5000', basisPoints: 10 }),
  ];
  const of = (some: readonly FeeTier[]) => ({ ...wallet, fees: some });

  it('is the most specific one for its route: both chains, the source, the destination, every chain', async () => {
    for (let known = fees.length; known > 0; known -= 1) {
      const terms = await termsOf(world().create(order(), of(fees.slice(0, known))));
      assert.equal(terms.fee.fixed, fees[known - 1]?.fixed_microUsd);
    }
    assert.equal(fixedOf(await termsOf(world().create(order(), of([])))), '0.01');
  });

  it('is that of each possible source, and shows in a quote', async () => {
    const { deps } = world();
    const payFrom = [{ chainId: 137, tokenSymbol: 'USDC' }];
    const quote = await quotePayment(deps, order({ payFrom }), of(fees), { keyless: false });
    assert.ok(!isRefusal(quote));
    assert.deepEqual([fixedOf(quote), quote.fee.basisPoints], ['0.005', 10]);
    assert.deepEqual(quote.alternatives?.map(fixedOf), ['0.03']);
  });

  it('is never less than the cost of the payout, unless the operator says so', async () => {
    const low = tier({ fixed_microUsd: '1000' });
    assert.equal(fixedOf(await termsOf(world(dear).create(order(), of([low])))), '0.25');
    assert.equal(fixedOf(await termsOf(world(dear).create(order(), of([{ ...low, belowCost: true }])))), '0.001');
  });

  it('covers the cost whatever the operator has set if a stranger creates the payment', async () => {
    const { deps } = world(dear);
    const gift = of([tier({ belowCost: true })]);
    const made = createPayment(deps, order(), gift, { keyless: true, cause: 'keyless' });
    assert.equal(fixedOf(await termsOf(made)), '0.25');
  });
});

describe('an app’s policy', () => {
  const of = (policy: Partial<typeof holdAll>) => ({ ...wallet, policy: { ...holdAll, ...policy } });

  it('goes into the terms with the minimum payout; one that holds everything does not', async () => {
    const { policy } = await termsOf(world(dear).create(order(), of({ over: 'refund' })));
    assert.deepEqual(policy, { ...holdAll, over: 'refund', leastPayout: '250000' });
    assert.equal((await termsOf(world().create(order(), of({})))).policy, undefined);
  });

  it('names other paying transfers: those to the payment’s own deposit, on chains that are served here', async () => {
    const both = of({ wrongToken: 'accept', wrongChain: 'accept' });
    const { policy } = await termsOf(
      world({ offers: ({ id }) => id === 8453 || id === 1 || id === 501 }).create(order(), both),
    );
    assert.deepEqual(
      policy?.tolerated?.map(({ chainId, token, amount }) => [chainId, token.symbol, amount]),
      chainOf(1).tokens.map(({ symbol }) => [1, symbol, '10010000']),
    );
  });

  it('accepts the other chain for that route’s own fee where it is more expensive', async () => {
    const fees = [tier({ sourceChainId: 1, fixed_microUsd: '2000000' })];
    const { policy } = await termsOf(world().create(order(), { ...of({ wrongChain: 'accept' }), fees }));
    const ethereum = policy?.tolerated?.find(({ chainId }) => chainId === 1);
    assert.deepEqual([ethereum?.amount, ethereum?.fee.amount], ['12000000', '2000000']);
  });
});
