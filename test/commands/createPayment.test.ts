import assert from 'node:assert/strict';
import type { CreatePaymentDeps } from '../../commands/createPayment.ts';
import { paymentIdOf } from '../../commands/paymentId.ts';
import { Unavailable } from '../../commands/ports.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import { merchantWallet, minute, treasuryAccount } from '../support/payments.ts';
import { accepted, Crashed, crashAt } from '../support/processes.ts';
import { merchant, order, refusal, sale, wallet, world } from './creating.ts';

describe('creating a payment for an app', () => {
  it('fixes the webhook types that the app has chosen by then', async () => {
    const { create } = world();
    const chosen = await accepted(create(order(), { ...wallet, webhookTypes: ['payment_later'] }));
    assert.deepEqual(chosen.payment.terms.webhookTypes, ['payment_later']);
    const none = await accepted(create(order({ orderId: 'order-2' }), { ...wallet, webhookTypes: [] }));
    assert.equal('webhookTypes' in none.payment.terms, false);
  });

  it('writes its terms, with a deposit address of its own, and returns them', async () => {
    const { create, store } = world();
    const { payment, createdNow, position } = await accepted(create(order()));
    assert.equal(createdNow, true);
    assert.equal(position, await store.tail());
    const { terms } = payment;
    assert.equal(terms.source.amount, '10010000');
    assert.equal(terms.destination.amount, '10000000');
    assert.equal(terms.webhookUrl, 'https://wallet.example/hook');
    assert.deepEqual([terms.createdAt, terms.expiresAt], [minute(0), minute(60)]);
    assert.deepEqual(terms.metadata, { table: '7' });
    assert.match(terms.deposit.address, /^0x[0-9a-fA-F]{40}$/);
    const other = await accepted(create(order({ orderId: 'order-2' })));
    assert.notEqual(other.payment.terms.deposit.address, terms.deposit.address);
    const [stored] = await store.read(`payment-${terms.paymentId}`);
    assert.deepEqual(stored?.data, terms);
    const { cause, requestId, appId } = stored?.metadata ?? assert.fail();
    assert.deepEqual([cause, requestId, appId], ['key:k1', 'request-1', 'wallet_demo']);
  });

  it('lives as long as the request says, which a repeated order does not change', async () => {
    const { create } = world();
    const { payment } = await accepted(create(order({ expiresInSeconds: 60 })));
    assert.equal(payment.terms.expiresAt, minute(1));
    const again = await accepted(create(order({ expiresInSeconds: 120 })));
    assert.equal(again.payment.terms.expiresAt, minute(1));
    assert.equal(await refusal(order({ expiresInSeconds: 5 })), 'invalidRequest /expiresInSeconds');
  });

  it('takes the fee in the source token’s own units', async () => {
    const { create } = world({ feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 30 }) });
    const bnb = order({ source: { chainId: 56, tokenSymbol: 'USDC' } });
    const { payment } = await accepted(create(bnb));
    assert.equal(formatAmount(BigInt(payment.terms.source.amount ?? 0), 18), '10.04');
    assert.equal(payment.terms.fee.fixed, (10n ** 16n).toString());
  });

  it('waits for deposit addresses where they are in stock, and returns existing payments while there are none', async () => {
    const { create, deposits } = world();
    const none = {
      intents: [],
      assign: () => Promise.reject(new Unavailable('no address is ready: try again in a moment')),
    };
    const without = { deposits: { evm: none } };
    assert.equal(await refusal(order(), wallet, without), 'unavailable');
    const { payment } = await accepted(create(order(), wallet, { deposits }));
    const again = await accepted(create(order(), wallet, without));
    assert.deepEqual(again.payment.terms, payment.terms);
  });

  it('is refused while the app has no room for one more open payment, and an order that has one is answered', async () => {
    const { create } = world();
    const full = { takePlace: async () => refuse('rateLimited', 'too many are open: try again in a minute') };
    assert.equal(await refusal(order(), wallet, full), 'rateLimited');
    const { payment } = await accepted(create(order()));
    const again = await accepted(create(order(), wallet, full));
    assert.deepEqual(again.payment.terms, payment.terms);
  });

  describe('with an orderId', () => {
    it('is idempotent: the same order is the same payment, also under other terms and after its end', async () => {
      const { create, time, start } = world();
      const first = await accepted(create(order()));
      time.now = minute(600);
      const other = order({
        type: 'exactIn',
        source: { chainId: 56, tokenSymbol: 'USDT', amount: '99' },
        destination: { chainId: 1, tokenSymbol: 'USDC', receiverAddress: treasuryAccount },
      });
      for (const handle of [undefined, start()]) {
        const more = handle ? { handle } : {};
        for (const again of [order(), other]) {
          const { payment, createdNow, position } = await accepted(create(again, wallet, more));
          assert.deepEqual([payment, createdNow, position], [first.payment, false, null]);
        }
      }
    });

    it('is refused when it is not valid, as if it had never been sent', async () => {
      const { create, typesIn } = world();
      const { payment } = await accepted(create(order()));
      const underFee = { chainId: 1, tokenSymbol: 'USDC', receiverAddress: merchantWallet };
      const wrong = [
        order({ destination: null }),
        order({ destination: { receiverAddress: 'nonsense' } }),
        order({
          type: 'exactIn',
          source: { chainId: 8453, tokenSymbol: 'USDC', amount: '0.001' },
          destination: underFee,
        }),
      ];
      for (const request of wrong) assert.ok(isRefusal(await create(request)));
      assert.deepEqual(await typesIn(`payment-${payment.terms.paymentId}`), ['PaymentCreated']);
    });

    it('is one payment for fifty creators at once, and they all get it', async () => {
      const { create, start, typesIn } = world();
      const creators = Array.from({ length: 50 }, (_, i) => {
        const destination = { chainId: 1, tokenSymbol: 'USDC', amount: `${i + 1}.00`, receiverAddress: merchantWallet };
        return accepted(create(order({ destination }), wallet, i % 2 ? { handle: start() } : {}));
      });
      const answers = await Promise.all(creators);
      assert.equal(answers.filter(({ createdNow }) => createdNow).length, 1);
      for (const { payment } of answers) assert.deepEqual(payment, answers[0]?.payment);
      assert.deepEqual(await typesIn(`payment-${answers[0]?.payment.terms.paymentId}`), ['PaymentCreated']);
    });

    it('is another payment for another app', async () => {
      const { create } = world();
      const mine = await accepted(create(order()));
      const theirs = await accepted(create(sale(), merchant));
      assert.equal(theirs.createdNow, true);
      assert.notEqual(theirs.payment.terms.paymentId, mine.payment.terms.paymentId);
    });

    it('gets its id from the app’s salt and the order, and nobody guesses it', () => {
      const id = paymentIdOf(wallet.idSalt, 'order-1');
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(paymentIdOf(wallet.idSalt, 'order-1'), id);
      const others = [
        paymentIdOf(merchant.idSalt, 'order-1'),
        paymentIdOf(wallet.idSalt, 'order-2'),
        paymentIdOf(wallet.idSalt, ''),
      ];
      assert.equal(new Set([id, ...others]).size, 4);
    });

    it('survives a crash before or after the append: the caller’s retry finds or creates it', async () => {
      for (const [point, createdNow] of [
        ['PaymentCreated.beforeAppend', true],
        ['PaymentCreated.afterAppend', false],
      ] as const) {
        const { create, start } = world();
        await assert.rejects(create(order(), wallet, { handle: start({ crash: crashAt(point) }) }), Crashed);
        assert.equal((await accepted(create(order()))).createdNow, createdNow, point);
      }
    });
  });

  it('without an orderId creates a payment each time', async () => {
    const { create } = world();
    const [one, other] = [
      await accepted(create(order({ orderId: null }))),
      await accepted(create(order({ orderId: null }))),
    ];
    assert.notEqual(one.payment.terms.paymentId, other.payment.terms.paymentId);
  });

  describe('checks whether the payout is possible', () => {
    const asked: [number, string, bigint | null, string, string | null][] = [];
    const checkRoute: CreatePaymentDeps['checkRoute'] = (chain, token, payout, pointer, by) => {
      asked.push([chain.id, token.symbol, payout, pointer, by]);
      return undefined;
    };

    it('for the payout amount, in the destination’s units, naming the field with the amount', async () => {
      asked.length = 0;
      const { create } = world({ checkRoute });
      const noAmount = { chainId: 1, tokenSymbol: 'USDC', receiverAddress: merchantWallet };
      await create(order());
      const bnb = { chainId: 56, tokenSymbol: 'USDC', amount: '7.00' };
      await create(order({ orderId: 'order-2', type: 'exactIn', source: bnb, destination: noAmount }));
      await create(order({ orderId: 'order-3', type: 'anyAmount', destination: noAmount }));
      assert.deepEqual(asked, [
        [1, 'USDC', 10_000_000n, '/destination/amount', wallet.appId],
        [1, 'USDC', 6_990_000n, '/source/amount', wallet.appId],
        [1, 'USDC', null, '/type', wallet.appId],
      ]);
    });

    it('and passes on why not, but never to an order that exists', async () => {
      const dry = { checkRoute: () => refuse('routeUnavailable', 'the treasury is dry at present: try again later') };
      assert.equal(await refusal(order(), wallet, dry), 'routeUnavailable');
      const { create } = world();
      const first = await accepted(create(order()));
      const again = await accepted(create(order(), wallet, dry));
      assert.deepEqual([again.payment, again.createdNow], [first.payment, false]);
    });
  });
});
