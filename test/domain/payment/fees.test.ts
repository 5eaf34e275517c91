import assert from 'node:assert/strict';
import fc from 'fast-check';
import { usdc } from '../../../domain/chain.ts';
import { dollarRoute, type RouteDecimals, rescale } from '../../../domain/money.ts';
import {
  agreeIn,
  agreeOut,
  type FeePolicy,
  feeOn,
  fitsRoute,
  leastIn,
  splitAny,
} from '../../../domain/payment/fees.ts';

/** Decimals of USDC and USDT on the supported chains. */
const held = fc.constantFrom(6, 7, 18);
const routes: fc.Arbitrary<RouteDecimals> = fc.record({
  source: held,
  destination: held,
  peg: fc.constant('usd'),
});
const coarser = (route: RouteDecimals) => Math.min(route.source, route.destination);
/** One unit of the coarser token, in source units. */
const unitOf = (route: RouteDecimals) => 10n ** BigInt(route.source - coarser(route));

/** Amounts up to a billion, mostly odd; fees of up to one token and ten percent. */
const payment = routes.chain((route) =>
  fc.record({
    route: fc.constant(route),
    policy: fc.record({
      fixed: fc.bigInt({ min: 0n, max: 10n ** BigInt(route.source) }),
      basisPoints: fc.integer({ min: 0, max: 1_000 }),
    }),
    amount: fc.bigInt({ min: 1n, max: 10n ** BigInt(9 + coarser(route)) }),
  }),
);
/** Converts the generated amount from coarser units to units of either token. */
const inSource = (amount: bigint, route: RouteDecimals) => rescale(amount, coarser(route), route.source);
const inDestination = (amount: bigint, route: RouteDecimals) => rescale(amount, coarser(route), route.destination);
/** The fee before any rounding, times 10,000. */
const exactFee = (base: bigint, { fixed, basisPoints }: FeePolicy) => fixed * 10_000n + base * BigInt(basisPoints);

describe('the fee', () => {
  it('leaves at least the minimum from the smallest payin, and less from anything that is three units less', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const payout = inDestination(amount, route);
        const least = leastIn(payout, policy, route);
        const agreed = agreeIn(least, policy, route);
        assert.ok(agreed && agreed.destination >= payout);
        assert.ok(fitsRoute(least, route.source, route));
        const less = agreeIn(least - 3n * unitOf(route), policy, route);
        assert.ok(!less || less.destination < payout);
      }),
    );
  });

  it('is fixed plus basis points', () => {
    const route = dollarRoute(usdc(''), usdc(''));
    assert.equal(feeOn(100_000_000n, { fixed: 10_000n, basisPoints: 25 }, route), 260_000n);
    assert.equal(feeOn(1n, { fixed: 0n, basisPoints: 9_999 }, route), 0n);
  });

  it('is never rounded in the treasury’s favour, and by less than one unit of the coarser token in the others’', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const base = inSource(amount, route);
        const cut = exactFee(base, policy) - feeOn(base, policy, route) * 10_000n;
        assert.ok(cut >= 0n && cut < unitOf(route) * 10_000n);
        assert.ok(fitsRoute(feeOn(base, policy, route), route.source, route), 'both tokens can hold it');
      }),
    );
  });
});

describe('agreed amounts', () => {
  it('with exactIn: the customer pays payout + fee, to the last unit', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const source = inSource(amount, route);
        const agreed = agreeIn(source, policy, route);
        if (!agreed) return assert.ok(feeOn(source, policy, route) >= source);
        assert.equal(agreed.source, source);
        assert.equal(rescale(agreed.destination, route.destination, route.source) + agreed.fee, source);
        assert.ok(agreed.destination > 0n);
      }),
    );
  });

  it('with exactOut: the merchant gets exactly that, and the customer pays it and the fee', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const destination = inDestination(amount, route);
        const agreed = agreeOut(destination, policy, route);
        assert.equal(agreed.destination, destination);
        assert.equal(agreed.source, inSource(amount, route) + agreed.fee);
      }),
    );
  });

  it('agree: with only a fixed fee, exactIn of exactOut’s payin pays out the same', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const flat = { ...policy, basisPoints: 0 };
        const out = agreeOut(inDestination(amount, route), flat, route);
        assert.deepEqual(agreeIn(out.source, flat, route), out);
      }),
    );
  });

  it('agree: basis points of the larger amount never leave the merchant more', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const out = agreeOut(inDestination(amount, route), policy, route);
        const back = agreeIn(out.source, policy, route);
        assert.ok((back?.destination ?? 0n) <= out.destination);
      }),
    );
  });

  it('never pay out more for less', () => {
    fc.assert(
      fc.property(payment, fc.bigInt({ min: 0n, max: 10n ** 6n }), ({ route, policy, amount }, more) => {
        const [less, greater] = [amount, amount + more].map((value) => agreeIn(inSource(value, route), policy, route));
        // One more coarser unit can raise the fee by at most one unit.
        assert.ok((less?.destination ?? 0n) <= (greater?.destination ?? 0n));
      }),
    );
  });
});

describe('any amount', () => {
  it('is split without loss: received = payout + fee + dust', () => {
    fc.assert(
      fc.property(payment, fc.bigInt({ min: 0n, max: 10n ** 12n }), ({ route, policy, amount }, odd) => {
        const received = inSource(amount, route) + (odd % unitOf(route));
        const split = splitAny(received, policy, route);
        if (!split) return;
        const { payout, fee, excess, dust } = split;
        assert.equal(rescale(payout, route.destination, route.source) + fee + excess + dust, received);
        assert.ok(payout > 0n && fee >= 0n && excess === 0n);
        assert.ok(dust >= 0n && dust < unitOf(route), 'we keep less than one unit of the coarser token');
      }),
    );
  });

  it('is split as exactIn would where the amount fits both tokens', () => {
    fc.assert(
      fc.property(payment, ({ route, policy, amount }) => {
        const received = inSource(amount, route);
        const [split, agreed] = [splitAny(received, policy, route), agreeIn(received, policy, route)];
        assert.deepEqual(
          [split?.payout, split?.fee, split?.dust],
          agreed ? [agreed.destination, agreed.fee, 0n] : [undefined, undefined, undefined],
        );
      }),
    );
  });

  it('is refused when the fee leaves nothing, or less than the destination can hold', () => {
    assert.equal(splitAny(10n, { fixed: 10n, basisPoints: 0 }, { source: 6, destination: 6, peg: 'usd' }), undefined);
    assert.equal(splitAny(9n, { fixed: 0n, basisPoints: 0 }, { source: 7, destination: 6, peg: 'usd' }), undefined);
    assert.deepEqual(
      splitAny(10n, { fixed: 0n, basisPoints: 0 }, { source: 7, destination: 6, peg: 'usd' })?.payout,
      1n,
    );
  });
});
