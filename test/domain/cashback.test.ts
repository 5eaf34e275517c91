import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type CashbackEvent,
  cashback,
  orderedWithdrawal,
  type Received,
  receive,
  type Withdrawal,
  withdraw,
} from '../../domain/cashback.ts';
import { fold, InvariantBroken, isRefusal } from '../../domain/decider.ts';
import { instant } from '../../domain/time.ts';
import { baseUsdc, merchantWallet } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(cashback);
const now = instant(Date.UTC(2026, 10, 22, 10));

const payment = (ordinal: number, cents: bigint): Received => ({
  ordinal,
  account: 'GBXFXNDLV4LSWA4VB7YIL5GBD7BVNR22SGBTDKMO2SBZZHDXSKZYCP7L',
  digest: ordinal.toString(16).padStart(64, '0'),
  orderId: null,
  cents,
});
const standing = (received: number, sum: bigint, withdrawn: bigint, open: readonly Withdrawal[] = []) => ({
  received,
  received_cents: sum.toString(),
  withdrawn_cents: withdrawn.toString(),
  balance_cents: (sum - withdrawn).toString(),
  open: [...open],
});
const withdrawal = (paymentId: string, cents: bigint): Withdrawal => ({
  paymentId,
  cents: cents.toString(),
  chainId: 8453,
  token: baseUsdc.token,
  receiverAddress: merchantWallet,
  receiverMemo: null,
  fee: { fixed: '10000', basisPoints: 0 },
});
const received = (ordinal: number, cents: bigint, sum: bigint): CashbackEvent => ({
  type: 'CashbackReceived',
  data: {
    ...payment(ordinal, cents),
    cents: cents.toString(),
    after: standing(ordinal, sum, 0n),
    receivedAt: now,
  },
});

describe('a merchant’s cashback', () => {
  it('records buyers’ payments in turn', () => {
    given([])
      .when((state) => receive(state, payment(1, 90n), now))
      .then([received(1, 90n, 90n)]);
    given([received(1, 90n, 90n)])
      .when((state) => receive(state, payment(2, 10n), now))
      .then([received(2, 10n, 100n)]);
  });

  it('records nothing twice, however late it is repeated', () => {
    const history = [received(1, 90n, 90n), received(2, 10n, 100n)];
    for (const again of [payment(1, 90n), payment(2, 10n)]) {
      given(history)
        .when((state) => receive(state, again, now))
        .thenNothing();
    }
  });

  it('skips none', () =>
    assert.throws(() => receive(fold(cashback, [received(1, 90n, 90n)]), payment(3, 1n), now), InvariantBroken));

  it('is as its last event states', () => {
    assert.ok(cashback.window === 1);
    const { balance_cents } = fold(cashback, [received(2, 10n, 100n)]);
    assert.equal(balance_cents, '100');
  });
});

describe('a merchant’s withdrawal', () => {
  const withdrawn = (open: Withdrawal, sum: bigint): CashbackEvent => ({
    type: 'CashbackWithdrawn',
    data: { ...open, after: standing(1, sum, BigInt(open.cents), [open]), withdrawnAt: now },
  });
  const ordered = (paymentId: string, sum: bigint, cents: bigint): CashbackEvent => ({
    type: 'WithdrawalOrdered',
    data: { paymentId, after: standing(1, sum, cents), orderedAt: now },
  });
  const sixty = withdrawal('p1', 60n);

  it('reserves an amount and waits for its payment', () => {
    given([received(1, 90n, 90n)])
      .when((state) => withdraw(state, sixty, { seen: state, now }))
      .then([withdrawn(sixty, 90n)]);
    given([received(1, 90n, 90n), withdrawn(sixty, 90n)])
      .when((state) => orderedWithdrawal(state, 'p1', now))
      .then([ordered('p1', 90n, 60n)]);
  });

  it('is decided once, for one amount', () => {
    given([received(1, 90n, 90n), withdrawn(sixty, 90n)])
      .when((state) => withdraw(state, sixty, { seen: state, now }))
      .thenNothing();
    given([received(1, 90n, 90n), withdrawn(sixty, 90n)])
      .when((state) => withdraw(state, withdrawal('p1', 30n), { seen: state, now }))
      .thenRefused('orderConflict');
  });

  it('withdraws no more than the balance', () =>
    given([received(1, 90n, 90n), withdrawn(sixty, 90n)])
      .when((state) => withdraw(state, withdrawal('p2', 31n), { seen: state, now }))
      .thenRefused('invalidRequest', /30 cents/));

  it('is not decided on a state before another withdrawal', () => {
    const seen = fold(cashback, [received(1, 90n, 90n)]);
    given([received(1, 90n, 90n), withdrawn(sixty, 90n), ordered('p1', 90n, 60n)])
      .when((state) => withdraw(state, withdrawal('p1', 30n), { seen, now }))
      .thenRefused('unavailable');
  });

  it('is not decided again by a worker that still sees it wait for its payment', () => {
    const twenty = withdrawal('p1', 20n);
    const seen = fold(cashback, [received(1, 90n, 90n), withdrawn(twenty, 90n)]);
    given([received(1, 90n, 90n), withdrawn(twenty, 90n), ordered('p1', 90n, 20n)])
      .when((state) => withdraw(state, twenty, { seen, now }))
      .thenRefused('unavailable');
  });

  it('waits while sixteen others wait', () => {
    const many = Array.from({ length: 17 }, (_, n) => withdrawal(`p${n}`, 1n));
    let state = fold(cashback, [received(1, 90n, 90n)]);
    for (const each of many.slice(0, 16)) {
      const decision = withdraw(state, each, { seen: state, now });
      assert.ok(!isRefusal(decision));
      state = fold(cashback, decision, state);
    }
    const last = withdraw(state, many[16] as Withdrawal, { seen: state, now });
    assert.ok(isRefusal(last) && last.refused === 'unavailable');
  });

  it('and sales, in any order: the balance is the receipts less the withdrawals, never below zero', () => {
    const step = fc.record({
      kind: fc.constantFrom('receive', 'withdraw', 'order'),
      n: fc.nat(5),
      cents: fc.bigInt(1n, 99n),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let [state, sum] = [cashback.initial, 0n];
        for (const { kind, n, cents } of steps) {
          const decision =
            kind === 'receive'
              ? receive(state, payment(state.received + 1, cents), now)
              : kind === 'withdraw'
                ? withdraw(state, withdrawal(`p${n}`, cents), { seen: state, now })
                : orderedWithdrawal(state, `p${n}`, now);
          if (isRefusal(decision)) continue;
          state = fold(cashback, decision, state);
          if (decision.length > 0) sum += kind === 'receive' ? cents : kind === 'withdraw' ? -cents : 0n;
          assert.equal(BigInt(state.balance_cents), sum);
          assert.equal(BigInt(state.balance_cents), BigInt(state.received_cents) - BigInt(state.withdrawn_cents));
          assert.ok(sum >= 0n);
        }
      }),
    );
  });
});
