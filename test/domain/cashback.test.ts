import assert from 'node:assert/strict';
import { type CashbackEvent, cashback, type Received, receive } from '../../domain/cashback.ts';
import { fold, InvariantBroken } from '../../domain/decider.ts';
import { instant } from '../../domain/time.ts';
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
const received = (ordinal: number, cents: bigint, sum: bigint): CashbackEvent => ({
  type: 'CashbackReceived',
  data: {
    ...payment(ordinal, cents),
    cents: cents.toString(),
    after: { received: ordinal, received_cents: sum.toString(), balance_cents: sum.toString() },
    receivedAt: now,
  },
});

describe('a merchant’s cashback', () => {
  it('takes up what buyers paid, in turn', () => {
    given([])
      .when((state) => receive(state, payment(1, 90n), now))
      .then([received(1, 90n, 90n)]);
    given([received(1, 90n, 90n)])
      .when((state) => receive(state, payment(2, 10n), now))
      .then([received(2, 10n, 100n)]);
  });

  it('takes up nothing twice, however late it comes again', () => {
    const history = [received(1, 90n, 90n), received(2, 10n, 100n)];
    for (const again of [payment(1, 90n), payment(2, 10n)]) {
      given(history)
        .when((state) => receive(state, again, now))
        .thenNothing();
    }
  });

  it('passes none over', () =>
    assert.throws(() => receive(fold(cashback, [received(1, 90n, 90n)]), payment(3, 1n), now), InvariantBroken));

  it('stands as its last event says', () => {
    assert.ok(cashback.window === 1);
    const { balance_cents } = fold(cashback, [received(2, 10n, 100n)]);
    assert.equal(balance_cents, 100n);
  });
});
