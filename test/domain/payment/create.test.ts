import assert from 'node:assert/strict';
import { isRefusal } from '../../../domain/decider.ts';
import { units } from '../../../domain/money.ts';
import { agree, agreeOnPrice, createPayment, lifetimeOf } from '../../../domain/payment/create.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import {
  type Asset,
  asset,
  baseUsdc,
  bnbUsdc,
  created,
  created_at,
  digits,
  ethereumUsdc,
  expires_at,
  paymentAfter,
  polygonUsdc,
  stellarUsdc,
  terms,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

/** Amounts in a payment's terms. */
function amountsOf(sketch: Parameters<typeof created>[0]) {
  const { source, destination, fee, limits } = paymentAfter([created(sketch)]).terms;
  return { source: source.amount, destination: destination.amount, fee: fee.amount, limits };
}

const fixed = (from: Asset, to: Asset, source: string, destination: string, fee: string) => ({
  source: digits(source, from),
  destination: digits(destination, to),
  fee: digits(fee, from),
  limits: null,
});

describe('creating a payment', () => {
  it('fixes all its terms in one event', () => {
    const sketch = terms({ orderId: 'order-1', keyless: true, webhookUrl: 'https://shop.example/hook' });
    given([])
      .when((state) => createPayment(state, sketch))
      .then([
        {
          type: 'PaymentCreated',
          data: {
            paymentId: sketch.paymentId,
            appId: 'wallet_demo',
            orderId: 'order-1',
            keyless: true,
            type: 'exactOut',
            intent: null,
            display: { title: 'Coffee beans', description: null, currency: 'USD' },
            metadata: null,
            source: { chainId: 8453, token: baseUsdc.token, amount: digits('10.01'), senderAddress: null },
            destination: {
              chainId: 1,
              token: ethereumUsdc.token,
              amount: digits('10.00'),
              receiverAddress: sketch.destination.receiverAddress,
              receiverMemo: null,
            },
            fee: { fixed: digits('0.01'), basisPoints: 0, amount: digits('0.01') },
            limits: null,
            deposit: sketch.deposit,
            webhookUrl: 'https://shop.example/hook',
            createdAt: created_at,
            expiresAt: expires_at,
          },
        },
      ]);
  });

  it('lives for an hour, or for the seconds that a key requests', () => {
    const own = { intent: null, keyless: false };
    assert.equal(lifetimeOf(null, own), 3_600_000);
    for (const [seconds, life_ms] of [
      [10, 10_000],
      [3_600, 3_600_000],
    ] as const)
      assert.equal(lifetimeOf(seconds, own), life_ms);
    const [made] = createPayment(null, { ...terms(), life_ms: 10_000 }) as PaymentEvent[];
    assert.equal(made?.type === 'PaymentCreated' && made.data.expiresAt, plus(created_at, 10_000));
  });

  it('lives for no other time, and without a key or with an intent for the hour alone', () => {
    const refused: readonly [number, Parameters<typeof lifetimeOf>[1], RegExp][] = [
      [9, { intent: null, keyless: false }, /from 10 to 3600/],
      [3_601, { intent: null, keyless: false }, /from 10 to 3600/],
      [10.5, { intent: null, keyless: false }, /whole number/],
      [60, { intent: null, keyless: true }, /needs a key/],
      [60, { intent: 'stellar_payin_contracts', keyless: false }, /intent/],
    ];
    for (const [seconds, by, words] of refused) {
      const refusal = lifetimeOf(seconds, by);
      assert.ok(isRefusal(refusal) && words.test(refusal.message), String(seconds));
    }
  });

  it('states that the reference of its payout is secret, if nothing else distinguishes payouts', () => {
    const marks = [asset(501), asset(8453), asset(1500)].map((to) => {
      const made = created({ to });
      return made.type === 'PaymentCreated' && made.data.payoutReference;
    });
    assert.deepEqual(marks, ['secret', undefined, undefined]);
  });

  it('happens once: an existing payment does not change, whatever the new terms are', () => {
    given(unpaid)
      .when((state) => createPayment(state, terms({ amount: '999.00', from: bnbUsdc })))
      .thenNothing();
  });

  describe('with exactIn', () => {
    it('takes the fee from the customer’s payment', () => {
      assert.deepEqual(
        amountsOf({ type: 'exactIn', amount: '100.00', fee: { fixed: '0.01', basisPoints: 25 } }),
        fixed(baseUsdc, ethereumUsdc, '100.00', '99.74', '0.26'),
      );
    });

    it('moves exactly between 18 and 6 decimals', () => {
      assert.deepEqual(
        amountsOf({ type: 'exactIn', amount: '10.000001', from: bnbUsdc, to: polygonUsdc }),
        fixed(bnbUsdc, polygonUsdc, '10.000001', '9.990001', '0.01'),
      );
    });

    it('refuses an amount that the fee eats up, by one unit', () => {
      given([])
        .when((state) => createPayment(state, terms({ type: 'exactIn', amount: '0.01' })))
        .thenRefused('invalidRequest', /fee/);
      assert.deepEqual(
        amountsOf({ type: 'exactIn', amount: '0.010001' }),
        fixed(baseUsdc, ethereumUsdc, '0.010001', '0.000001', '0.01'),
      );
    });
  });

  describe('with exactOut', () => {
    it('adds the fee to the merchant’s amount', () => {
      assert.deepEqual(
        amountsOf({ amount: '100.00', fee: { fixed: '0.01', basisPoints: 25 } }),
        fixed(baseUsdc, ethereumUsdc, '100.26', '100.00', '0.26'),
      );
    });

    it('rounds the fee down to the decimals of both tokens', () => {
      // 0.000001 × 25 basis points is far below one unit of either token; of 1.000399 it is 0.0025009975.
      const fee = { fixed: '0', basisPoints: 25 };
      assert.deepEqual(
        amountsOf({ amount: '1.000399', from: bnbUsdc, to: polygonUsdc, fee }),
        fixed(bnbUsdc, polygonUsdc, '1.002899', '1.000399', '0.0025'),
      );
      assert.deepEqual(
        amountsOf({ amount: '0.000001', from: baseUsdc, to: stellarUsdc, fee }),
        fixed(baseUsdc, stellarUsdc, '0.000001', '0.000001', '0'),
      );
    });
  });

  describe('with anyAmount', () => {
    it('fixes no amount, only the limits: 0.02 to 10,000 in the source token', () => {
      for (const from of [baseUsdc, bnbUsdc, stellarUsdc]) {
        assert.deepEqual(amountsOf({ type: 'anyAmount', from }), {
          source: null,
          destination: null,
          fee: null,
          limits: { min: digits('0.02', from), max: digits('10000', from) },
        });
      }
    });
  });

  describe('agreeing once', () => {
    const asked = terms();
    const agreed = agree(asked);
    assert.ok(agreed !== null && !isRefusal(agreed));

    it('keeps the amounts where the payout costs no more than the fee', () => {
      assert.equal(agreeOnPrice(asked, { ...asked, agreed }), agreed);
    });

    it('computes them again where the cost raised the fee', () => {
      const dearer = { ...asked, feePolicy: { ...asked.feePolicy, fixed: asked.feePolicy.fixed * 2n } };
      const again = agreeOnPrice(dearer, { ...asked, agreed });
      assert.deepEqual(again, agree(dearer));
      assert.notDeepEqual(again, agreed);
    });

    it('creates the payment with the amounts that were agreed', () => {
      const [event] = createPayment(null, {
        ...asked,
        agreed: { ...agreed, source: units(agreed.source + 7n) },
      }) as PaymentEvent[];
      assert.ok(event?.type === 'PaymentCreated');
      assert.equal(event.data.source.amount, String(agreed.source + 7n));
    });
  });

  describe('refuses', () => {
    const refusalOf = (over: { type: 'exactIn' | 'exactOut'; amount: string; from: Asset; to: Asset }) => {
      const refusal = agree(terms(over));
      assert.ok(isRefusal(refusal), 'refused');
      return refusal;
    };

    it('an amount that one of the tokens cannot represent, pointing at the field', () => {
      const fine = '1.0000001';
      const out = refusalOf({ type: 'exactOut', amount: fine, from: baseUsdc, to: bnbUsdc });
      assert.deepEqual([out.refused, out.pointer], ['invalidRequest', '/destination/amount']);
      assert.match(out.message, /at most 6 decimals/);
      const into = refusalOf({ type: 'exactIn', amount: fine, from: stellarUsdc, to: polygonUsdc });
      assert.deepEqual([into.refused, into.pointer], ['invalidRequest', '/source/amount']);
      const seven = agree(terms({ type: 'exactIn', amount: fine, from: stellarUsdc, to: bnbUsdc }));
      assert.ok(!isRefusal(seven), 'seven decimals fit both Stellar and BNB Chain');
    });

    it('an amount worth less than its payout costs, though the fee stays the same', () => {
      const asked = terms();
      const agreed = agree(asked);
      assert.ok(agreed !== null && !isRefusal(agreed));
      const refusal = agreeOnPrice({ ...asked, leastPayout: agreed.destination + 1n }, { ...asked, agreed });
      assert.ok(isRefusal(refusal));
      assert.match(refusal.message, /at least .* less is not worth what its payout costs/);
      assert.deepEqual(refusal, agree({ ...asked, leastPayout: agreed.destination + 1n }));
    });

    it('zero and less', () => {
      const out = refusalOf({ type: 'exactOut', amount: '0.00', from: baseUsdc, to: ethereumUsdc });
      assert.deepEqual([out.refused, out.pointer], ['invalidRequest', '/destination/amount']);
      for (const amount of [-1n, null]) {
        const { destination, ...rest } = terms();
        assert.ok(isRefusal(agree({ ...rest, destination: { ...destination, amount } })));
      }
    });
  });
});
