import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type CreditEvent,
  type CreditSpent,
  credit,
  type Earning,
  earn,
  type SpendOrder,
  spend,
  tolerance_ms,
  window,
} from '../../domain/credit.ts';
import { fold } from '../../domain/decider.ts';
import { type Instant, instant, minute_ms, plus } from '../../domain/time.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(credit);

const now = instant(Date.UTC(2026, 10, 22, 10));
const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const digestOf = (n: number) => n.toString(16).padStart(64, '0');

const earning = (cents: bigint, more: Partial<Earning> = {}): Earning => ({
  account,
  paymentId: `payment-${cents}`,
  appId: 'merchant_bakery',
  chainId: 8453,
  basisPoints: 250,
  cents,
  ...more,
});
const order = (cents: bigint, more: Partial<SpendOrder> = {}): SpendOrder => ({
  account,
  appId: 'merchant_books',
  digest: digestOf(1),
  orderId: 'order-1',
  cents,
  amountLocal: null,
  currencyLocal: null,
  about: null,
  signedAt: now,
  ...more,
});
const earned = (cents: bigint, balance: bigint, more: Partial<Earning> = {}): CreditEvent => ({
  type: 'CreditEarned',
  data: {
    ...earning(cents, more),
    cents: cents.toString(),
    after: { balance_cents: balance.toString(), earnedOn: [more.chainId ?? 8453] },
    earnedAt: now,
  },
});
const spent = (cents: bigint, balance: bigint, more: Partial<SpendOrder> = {}): CreditEvent => ({
  type: 'CreditSpent',
  data: {
    ...order(cents, more),
    cents: cents.toString(),
    after: { balance_cents: balance.toString(), earnedOn: [8453] },
    spentAt: now,
  } satisfies CreditSpent,
});
const verdictAfter = (history: readonly CreditEvent[], asked: SpendOrder, at: Instant = now) =>
  spend(fold(credit, history), asked, 'key', at).verdict;

describe('credit earned', () => {
  it('is the payment’s share, once', () => {
    given([])
      .when((state) => earn(state, earning(250n), now))
      .then([earned(250n, 250n)]);
    given([earned(250n, 250n)])
      .when((state) => earn(state, earning(250n), now))
      .thenNothing();
  });

  it('adds up over payments, and remembers every chain of origin', () =>
    given([earned(250n, 250n, { chainId: 42161 })])
      .when((state) => earn(state, earning(3n, { chainId: 1 }), now))
      .then([
        {
          type: 'CreditEarned',
          data: {
            ...earning(3n, { chainId: 1 }),
            cents: '3',
            after: { balance_cents: '253', earnedOn: [1, 42161] },
            earnedAt: now,
          },
        },
      ]));
});

describe('credit spent', () => {
  it('pays the merchant of the message', () =>
    given([earned(250n, 250n)])
      .when((state) => spend(state, order(90n), 'key', now).events)
      .then([spent(90n, 160n)]));

  it('may reduce the balance to nothing, never below', () => {
    given([earned(250n, 250n)])
      .when((state) => spend(state, order(250n), 'key', now).events)
      .then([spent(250n, 0n)]);
    assert.equal(verdictAfter([earned(250n, 250n)], order(251n)), 'outOfCredit');
    assert.equal(verdictAfter([], order(1n)), 'outOfCredit');
  });

  it('accepts a message once: a repeat returns the decision, even after its time and without any balance', () => {
    const history = [earned(90n, 90n), spent(90n, 0n)];
    assert.equal(verdictAfter(history, order(90n), plus(now, 60 * minute_ms)), 'spent');
    given(history)
      .when((state) => spend(state, order(90n), 'key', now).events)
      .thenNothing();
  });

  it('accepts an order once, with any message, but not for another amount', () => {
    const history = [earned(250n, 250n), spent(90n, 160n)];
    const again = order(90n, { digest: digestOf(2) });
    assert.equal(verdictAfter(history, again), 'spent');
    given(history)
      .when((state) => spend(state, again, 'key', now).events)
      .thenNothing();
    assert.equal(verdictAfter(history, order(91n, { digest: digestOf(2) })), 'orderConflict');
  });

  it('knows an order by its merchant: two may use the same id', () =>
    given([earned(250n, 250n), spent(90n, 160n)])
      .when((state) => spend(state, order(90n, { appId: 'merchant_bakery', digest: digestOf(2) }), 'key', now).events)
      .then([spent(90n, 70n, { appId: 'merchant_bakery', digest: digestOf(2) })]));

  it('counts each message without an order separately', () =>
    given([earned(250n, 250n), spent(90n, 160n, { orderId: null })])
      .when((state) => spend(state, order(90n, { orderId: null, digest: digestOf(2) }), 'key', now).events)
      .then([spent(90n, 70n, { orderId: null, digest: digestOf(2) })]));

  it('counts a message for five minutes before and after its time, and not a millisecond more', () => {
    const history = [earned(250n, 250n)];
    for (const off_ms of [-tolerance_ms, 0, tolerance_ms]) {
      assert.equal(verdictAfter(history, order(90n, { signedAt: plus(now, off_ms) })), 'spent');
    }
    for (const off_ms of [-tolerance_ms - 1, tolerance_ms + 1, 10 * 365 * 24 * 60 * minute_ms]) {
      assert.equal(verdictAfter(history, order(90n, { signedAt: plus(now, off_ms) })), 'expired');
    }
  });

  it('waits when more has happened in ten minutes than it can remember, so that it never forgets a valid message', () => {
    const flood = Array.from({ length: window }, (_, n) => earned(1n, BigInt(n + 1), { paymentId: `payment-${n}` }));
    assert.equal(verdictAfter(flood, order(1n)), 'busy');
    const later = plus(now, 11 * minute_ms);
    assert.equal(verdictAfter(flood, order(1n, { signedAt: later }), later), 'spent');
  });
});

describe('a credit account', () => {
  const step = fc.record({
    kind: fc.constantFrom('earn', 'spend', 'spend'),
    n: fc.nat(12),
    cents: fc.bigInt({ min: 1n, max: 400n }),
    order: fc.option(fc.nat(5).map(String)),
    off_ms: fc.constantFrom(0, 0, 0, -2 * tolerance_ms),
  });

  it('is the earned credit less the spent one, never below zero; no payment earns twice, no message or order is paid twice', () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let [state, earned_cents, spent_cents] = [credit.initial, 0n, 0n];
        const used = new Set<string>();
        const once = (what: string) => {
          assert.ok(!used.has(what), `${what} twice`);
          used.add(what);
        };
        for (const { kind, n, cents, order: orderId, off_ms } of steps) {
          const asked = order(cents, { digest: digestOf(n), orderId, signedAt: plus(now, off_ms) });
          const decided =
            kind === 'earn'
              ? earn(state, earning(cents, { paymentId: String(n) }), now)
              : spend(state, asked, 'key', now).events;
          assert.ok(Array.isArray(decided));
          for (const event of decided as readonly CreditEvent[]) {
            if (event.type === 'CreditEarned') {
              earned_cents += BigInt(event.data.cents);
              once(`payment ${event.data.paymentId}`);
            } else {
              spent_cents += BigInt(event.data.cents);
              once(`message ${event.data.digest}`);
              if (event.data.orderId !== null) once(`order ${event.data.orderId}`);
            }
            state = credit.evolve(state, event);
          }
          assert.equal(state.balance_cents, earned_cents - spent_cents);
          assert.ok(state.balance_cents >= 0n);
        }
      }),
    ));
});
