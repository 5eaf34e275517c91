import assert from 'node:assert/strict';
import { currentState, type Handle } from '../../commands/handle.ts';
import { createWithdrawCashback, findWithdrawal, finishWithdrawal } from '../../commands/withdrawCashback.ts';
import { cashback, receive } from '../../domain/cashback.ts';
import type { Chain } from '../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { nextStep } from '../../domain/payment/backing.ts';
import { bounceImpossible } from '../../domain/payment/close.ts';
import { requestPayout } from '../../domain/payment/payout.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { statusOf } from '../../domain/payment/view.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { withdrawalsWorker } from '../../src/workers/cashback/cashback.ts';
import { createWorld, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freePayouts } from '../support/payoutCosts.ts';

const appId = 'merchant_bakery';
const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: p.merchantWallet, receiverMemo: null };
const app = { appId, idSalt: 'ab'.repeat(32), webhookUrl: 'https://shop.example/hook', settlement };
const by = { cause: 'key:spec' } as const;
const { signal } = new AbortController();

describe('withdrawing cashback', () => {
  let world: World;
  let unpayable: Refusal | undefined;
  beforeEach(async () => {
    world = createWorld();
    unpayable = undefined;
    const payment = { ordinal: 1, account: p.customerWallet, digest: 'ab'.repeat(32), orderId: null, cents: 1_000n };
    await world.handle(cashback, appId, (state) => receive(state, payment, world.clock.now()), { ...by, appId });
  });

  const deps = (crash: (point: string) => void = () => {}) => ({
    handle: world.handle,
    clock: world.clock,
    crash,
    deposits: { evm: createEvmDeposits({ treasury: p.treasuryAccount }) },
    canReceive: {},
    feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 0 }),
    payoutCostOf: freePayouts,
    offers: ({ id }: Chain) => id === 8453,
    checkRoute: () => unpayable,
  });
  const withdraw = (withdrawalId: string, cents: bigint, more: Partial<typeof app> | { settlement: null } = {}) =>
    createWithdrawCashback(deps())({ ...app, ...more }, { withdrawalId, cents }, by);
  const account = () => currentState(world.handle, cashback, appId);
  async function paymentOf(answer: Awaited<ReturnType<typeof withdraw>>) {
    if (isRefusal(answer)) assert.fail(answer.message);
    const payment = await currentState(world.handle, paymentDecider, answer.paymentId);
    assert.ok(payment);
    return payment;
  }
  const refused = (answer: Awaited<ReturnType<typeof withdraw>>) => (isRefusal(answer) ? answer.refused : 'none');

  it('is a payment to the settlement wallet that begins funded: it is paid out like any other, less its fee', async () => {
    const answer = await withdraw('november', 600n);
    const payment = await paymentOf(answer);
    assert.equal(statusOf(payment), 'payment_payin_completed');
    assert.equal(nextStep(payment, world.clock.now()).do, 'order');
    const [ordered] = requestPayout(payment, world.clock.now()) as readonly { data: object }[];
    assert.partialDeepStrictEqual(ordered?.data, {
      chainId: 8453,
      receiverAddress: p.merchantWallet,
      amount: p.digits('5.99'),
    });
    assert.equal(payment.terms.webhookUrl, null);
    const { balance_cents, withdrawn_cents, open } = await account();
    assert.deepEqual([balance_cents, withdrawn_cents, open], ['400', '600', []]);
  });

  for (const opensAccount of [true, false])
    it(`${opensAccount ? 'pays' : 'never pays'} for the receiver’s account, as its fee states, also if the payment is created after a crash`, async () => {
      const payoutCostOf = async () => ({ cost_microUsd: 400_000n, least_microUsd: 5_000n, opensAccount });
      const died = new Error('died');
      const dying = { ...deps(), payoutCostOf, crash: () => Promise.reject(died) };
      await assert.rejects(createWithdrawCashback(dying)(app, { withdrawalId: 'november', cents: 600n }, by), died);
      const [open] = (await account()).open;
      assert.equal(open?.opensAccount, opensAccount);
      // A later request returns the recorded decision.
      const payment = await paymentOf(await withdraw('november', 600n));
      assert.equal(payment.terms.opensAccount, opensAccount);
    });

  it('happens once under its name, also for concurrent requests, and not for another amount', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => withdraw('november', 600n)));
    answers.push(await withdraw('november', 600n));
    const ids = answers.map((answer) => (isRefusal(answer) ? answer.message : answer.paymentId));
    assert.equal(new Set(ids).size, 1);
    assert.equal((await account()).balance_cents, '400');
    assert.equal(refused(await withdraw('november', 400n)), 'orderConflict');
    await paymentOf(await withdraw('december', 400n));
    assert.equal((await account()).balance_cents, '0');
  });

  it('happens once when one request overtakes another between its read and its decision', async () => {
    let overtaking = true;
    const slow: Handle = async (decider, instance, ...rest) => {
      const handled = await world.handle(decider, instance, ...rest);
      // The slow request has just read that the payment does not exist.
      if (decider.category === 'payment' && overtaking) {
        overtaking = false;
        await paymentOf(await withdraw('november', 600n));
      }
      return handled;
    };
    const asked = { withdrawalId: 'november', cents: 600n };
    await paymentOf(await createWithdrawCashback({ ...deps(), handle: slow })(app, asked, by));
    const { balance_cents, withdrawn_cents } = await account();
    assert.deepEqual([balance_cents, withdrawn_cents], ['400', '600']);
  });

  it('withdraws no more than the balance, however many requests are concurrent', async () => {
    assert.equal(refused(await withdraw('all', 1_001n)), 'invalidRequest');
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => withdraw(`part ${n}`, 300n)));
    assert.equal(answers.filter((answer) => !isRefusal(answer)).length, 3);
    assert.equal((await account()).balance_cents, '100');
  });

  it('is refused, and withdraws nothing, without a wallet, below the fee, or while it cannot be paid out', async () => {
    assert.equal(refused(await withdraw('a', 600n, { settlement: null })), 'settlementMissing');
    assert.equal(refused(await withdraw('b', 1n)), 'invalidRequest');
    const elsewhere = { ...settlement, chainId: 1 };
    assert.equal(refused(await withdraw('c', 600n, { settlement: elsewhere })), 'routeUnavailable');
    unpayable = refuse('routeUnavailable', 'the float is too low');
    assert.equal(refused(await withdraw('d', 600n)), 'routeUnavailable');
    assert.equal((await account()).balance_cents, '1000');
  });

  it('is finished by the worker, or by the same request, after a crash between decision and payment', async () => {
    for (const finish of ['worker', 'request'] as const) {
      const dying = createWithdrawCashback(
        deps((point) => {
          if (point === 'withdrawal.afterDecided') throw new Error('the process ends here');
        }),
      );
      const before = BigInt((await account()).balance_cents);
      await assert.rejects(dying(app, { withdrawalId: finish, cents: 100n }, by), /ends here/);
      const { balance_cents, open } = await account();
      assert.equal(BigInt(balance_cents), before - 100n);
      const [waiting] = open;
      assert.ok(waiting);
      const { paymentId } = waiting;
      const worker = withdrawalsWorker({ ...deps(), store: world.store, due: async () => [] });
      if (finish === 'worker') await worker.act({ appId, paymentId }, signal);
      const payment = await paymentOf(await withdraw(finish, 100n));
      assert.equal(payment.terms.paymentId, paymentId);
      await worker.act({ appId, paymentId }, signal);
      assert.equal(BigInt((await account()).balance_cents), before - 100n);
      assert.deepEqual((await account()).open, []);
      assert.equal((await world.store.read(`payment-${paymentId}`)).length, 2);
    }
  });

  describe('with a receiver that can never be paid', () => {
    const bounce = (paymentId: string) =>
      world.handle(paymentDecider, paymentId, (state) => bounceImpossible(state, 'frozen', world.clock.now()), {
        cause: 'operator:spec',
        appId,
      });
    const worker = () => withdrawalsWorker({ ...deps(), store: world.store, due: async () => [] });

    it('returns its cents to the account once, also by two workers at once and after other withdrawals', async () => {
      const [first, second] = [
        await paymentOf(await withdraw('first', 600n)),
        await paymentOf(await withdraw('second', 300n)),
      ];
      for (const { terms } of [first, second]) assert.ok(!isRefusal(await bounce(terms.paymentId)));
      const items = [first, second, first].map(({ terms: { paymentId } }) => ({ appId, paymentId }));
      await Promise.all(items.map((item) => worker().act(item, signal)));
      await worker().act(items[0] ?? assert.fail(), signal);
      const { balance_cents, withdrawn_cents, returned_cents } = await account();
      assert.deepEqual([balance_cents, withdrawn_cents, returned_cents], ['1000', '900', '900']);
      const types = (await world.store.read(`cashback-${appId}`)).map(({ type }) => type);
      assert.equal(types.filter((type) => type === 'WithdrawalReturned').length, 2);
    });

    it('can be withdrawn to another wallet by another name', async () => {
      const { terms } = await paymentOf(await withdraw('november', 1_000n));
      await bounce(terms.paymentId);
      await worker().act({ appId, paymentId: terms.paymentId }, signal);
      const again = { ...settlement, receiverAddress: p.customerWallet };
      const payment = await paymentOf(await withdraw('december', 1_000n, { settlement: again }));
      assert.equal(payment.terms.destination.receiverAddress, p.customerWallet);
      // The same name returns the bounced withdrawal and spends nothing.
      assert.equal((await paymentOf(await withdraw('november', 1_000n))).closed?.kind, 'bounced');
      assert.equal((await account()).balance_cents, '0');
    });

    it('has nothing to return while its payment can be paid', async () => {
      const { terms } = await paymentOf(await withdraw('november', 600n));
      await worker().act({ appId, paymentId: terms.paymentId }, signal);
      assert.equal((await account()).balance_cents, '400');
    });

    it('does not exist for a signer once it has returned', async () => {
      const { terms } = await paymentOf(await withdraw('november', 600n));
      const find = () => findWithdrawal(world.store, terms);
      assert.equal((await find())?.cents, '600');
      await bounce(terms.paymentId);
      await worker().act({ appId, paymentId: terms.paymentId }, signal);
      assert.equal(await find(), undefined);
    });
  });

  it('has nothing to finish in an account without withdrawals', async () =>
    assert.equal(await finishWithdrawal(deps(), appId, 'nobody', by), undefined));
});
