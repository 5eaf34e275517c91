/** Alternative sources request round amounts. The treasury's fee includes the rounding; the receiver gets the same amount. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dollarRoute, rescale } from '../../../domain/money.ts';
import { agree, quoteOf } from '../../../domain/payment/create.ts';
import type { PaymentEventData } from '../../../domain/payment/events.ts';
import { agreeOut } from '../../../domain/payment/fees.ts';
import { recordPayin } from '../../../domain/payment/payins.ts';
import { alternativeTerms, orderDecimals } from '../../../domain/payment/sources.ts';
import type { PaymentState } from '../../../domain/payment/state.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import type { Finding } from '../../../tools/audit/findings.ts';
import { auditedTerms, fundingFindings } from '../../../tools/audit/reckon/funding.ts';
import * as p from '../../support/payments.ts';

const { baseUsdc, bnbUsdc, minute, polygonUsdc, solanaUsdc } = p;
const assets = [baseUsdc, bnbUsdc, solanaUsdc, p.stellarUsdc, p.ethereumUsdt];

/** The example of the walk through the pages: 18.50, paid on Base for a fee of 0.01 and 10 basis points. */
const order: p.TermsSketch = {
  type: 'exactIn',
  amount: '18.50',
  fee: { fixed: '0.01', basisPoints: 10 },
  alternatives: [polygonUsdc, solanaUsdc, bnbUsdc],
};

const payFrom = (sketch: p.TermsSketch) =>
  viewOf(p.paymentAfter([p.created(sketch)]), minute(1)).payFrom?.map(({ amount }) => amount);

/** The funding after this amount from this source. */
function fundedBy(sketch: p.TermsSketch, from: p.Asset, amount: string): PaymentEventData<'PaymentFunded'> | undefined {
  const state: PaymentState = p.paymentAfter([p.created(sketch)]);
  const transfer = p.payin({ in: from, amount, tx: 'round' });
  const events = recordPayin(state, { transfer, final: true, now: minute(6) });
  assert.ok(Array.isArray(events));
  const event = events.find(({ type }) => type === 'PaymentFunded');
  return event?.data as PaymentEventData<'PaymentFunded'> | undefined;
}

/** The audit's findings for the same events, by its separate arithmetic. */
function audited(sketch: p.TermsSketch, from: p.Asset, amount: string): readonly Finding[] {
  const transfer = p.payin({ in: from, amount, tx: 'round' });
  const entry = (data: object) => ({ stream: 'payment-1', revision: 3n, data }) as never;
  const data = fundedBy(sketch, from, amount);
  assert.ok(data);
  return fundingFindings(auditedTerms(entry(p.created(sketch).data)), entry(data), [transfer]);
}

describe('a round amount', () => {
  it('is requested on every other source of an order of whole cents', () => {
    assert.deepEqual(payFrom(order), ['18.50', '18.50', '18.50', '18.50']);
  });

  it('has as many decimals as the order, if that has more than two', () => {
    assert.deepEqual(payFrom({ ...order, amount: '18.5001' }), ['18.5001', '18.5001', '18.5001', '18.5001']);
    assert.equal(orderDecimals(18_500_000n, 6), 2);
    assert.equal(orderDecimals(20_000_000n, 6), 2);
    assert.equal(orderDecimals(18_500_100n, 6), 4);
    assert.equal(orderDecimals(18_500_001n, 6), 6);
  });

  it('states the rounding in the terms, as a part of the fee', () => {
    const { sources } = p.paymentAfter([p.created(order)]);
    assert.deepEqual(sources[1]?.fee, { fixed: '10000', basisPoints: 10, amount: '28500', rounding: '29' });
    assert.deepEqual(sources[0]?.fee, { fixed: '10000', basisPoints: 10, amount: '28500' });
  });

  it('is at least the exact one, by less than one unit of the last requested decimal, and the receiver gets the same', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...assets),
        fc.constantFrom(...assets),
        fc.bigInt(1n, 10n ** 12n),
        fc.bigInt(0n, 10n ** 6n),
        fc.nat(500),
        fc.integer({ min: 2, max: 6 }),
        (from, to, cents, fixed, basisPoints, places) => {
          const payout = cents * 10n ** BigInt(to.token.decimals - 2);
          const policy = { fixed: rescale(fixed, 6, from.token.decimals), basisPoints };
          const least = { token: to.token, payout: 0n };
          const nothing = { amount: 0n, token: from.token };
          const terms = alternativeTerms({ ...from, feePolicy: policy }, payout, least, { places, own: nothing });
          const exact = agreeOut(payout, policy, dollarRoute(from.token, to.token));
          const [asked, fee] = [BigInt(terms.amount ?? 0), BigInt(terms.fee.amount ?? 0)];
          const added = asked - exact.source;
          const unit = 10n ** BigInt(Math.max(0, from.token.decimals - places));
          assert.ok(added >= 0n && added < unit, `${added} of ${unit}`);
          assert.equal(asked % unit, 0n);
          assert.equal(BigInt(terms.fee.rounding ?? 0), added);
          assert.equal(fee, exact.fee + added);
          assert.equal(asked - fee, rescale(payout, to.token.decimals, from.token.decimals));
        },
      ),
    );
  });

  it('is the own source’s price where that covers it, so a payer who sends the same to another chain pays enough', () => {
    const exactOut = { ...order, type: 'exactOut', amount: '4.50' } as const;
    assert.deepEqual(payFrom(exactOut), ['4.5145', '4.5145', '4.5145', '4.5145']);
    for (const from of [polygonUsdc, bnbUsdc]) {
      const funded = fundedBy(exactOut, from, '4.5145');
      assert.deepEqual([funded?.rule, audited(exactOut, from, '4.5145')], ['agreed', []]);
    }
  });

  it('funds the payment to the last unit, and the audit computes the same', () => {
    const amounts = fc.integer({ min: 100, max: 10_000_000 }).map((cents) => (cents / 100).toFixed(2));
    fc.assert(
      fc.property(
        fc.constantFrom<p.Asset>(polygonUsdc, bnbUsdc),
        fc.constantFrom('exactIn', 'exactOut'),
        amounts,
        fc.nat(500),
        (from, type, amount, basisPoints) => {
          const sketch = { ...order, type, amount, fee: { fixed: '0.01', basisPoints } } as const;
          const [own] = [p.terms(sketch)];
          const quote = quoteOf(own, agree(own) as never);
          const there = quote.alternatives?.find(({ chainId }) => chainId === from.chain.id);
          const asked = rescaleText(there?.amount ?? '0', from.token.decimals);
          const funded = fundedBy(sketch, from, asked);
          assert.ok(funded);
          assert.equal(funded.payout, quote.destination.amount);
          assert.equal(funded.excess, '0');
          assert.equal(funded.dust, '0');
          assert.equal(funded.fee, there?.fee.amount);
          assert.deepEqual(audited(sketch, from, asked), []);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('takes a shortfall within the tolerance from the rounding before it takes from the receiver', () => {
    const forgiving = {
      ...order,
      policy: { tolerance: { basisPoints: 100, most_microUsd: '1000000' } },
    };
    const funded = fundedBy(forgiving, polygonUsdc, '18.499985');
    assert.deepEqual([funded?.rule, funded?.fee, funded?.payout], ['short', '28485', '18471500']);
    const less = fundedBy(forgiving, polygonUsdc, '18.499970');
    assert.deepEqual([less?.rule, less?.fee, less?.payout], ['short', '28471', '18471499']);
    for (const amount of ['18.499985', '18.499970', '18.40'])
      assert.deepEqual(audited(forgiving, polygonUsdc, amount), []);
  });

  it('is refuted by the audit if the rounding is a cent or more, or the payment’s own source has one', () => {
    const created = p.created(order).data as PaymentEventData<'PaymentCreated'>;
    const fee = (extra: bigint) => ({ ...created.fee, amount: String(28_471n + extra), rounding: String(extra) });
    const [alternative, ...others] = created.alternatives ?? [];
    assert.ok(alternative);
    const raised = { ...alternative, amount: String(18_499_971n + 10_000n), fee: fee(10_000n) };
    const funded = {
      ...fundedBy(order, polygonUsdc, '18.50'),
      fee: raised.fee.amount,
      received: raised.amount,
      sourceAmount: raised.amount,
    };
    const entry = (data: object) => ({ stream: 'payment-1', revision: 3n, data }) as never;
    const transfer = { ...p.payin({ in: polygonUsdc, tx: 'round' }), amount: raised.amount };
    const forged = auditedTerms(entry({ ...created, alternatives: [raised, ...others] }));
    const found = fundingFindings(forged, entry(funded), [transfer]).map(({ code }) => code);
    assert.deepEqual(found, ['feeWrong']);
  });
});

const rescaleText = (units: string, decimals: number): string => {
  const digits = units.padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};
