import assert from 'node:assert/strict';
import { fold, type StoredEvent } from '../../domain/decider.ts';
import { payOutCashback } from '../../domain/payment/cashback.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { todoCredits } from '../../projections/cashback.ts';
import type { SeenEventOf } from '../../projections/projection.ts';
import { hourlyStats } from '../../projections/stats.ts';
import * as p from '../support/payments.ts';

describe('a payment that pays cashback out', () => {
  const terms = { ...p.terms({ type: 'exactIn', from: p.baseUsdc, to: p.baseUsdc }), webhookUrl: null };
  const begun = payOutCashback(null, terms) as readonly PaymentEvent[];
  const attempt = p.attempt(1, { amount: '9.99', to: p.baseUsdc });
  const before = fold(paymentDecider, [...begun, p.payoutRequested('9.99', p.baseUsdc), p.signed(attempt)]);
  const event = p.settled(attempt);
  const after = fold(paymentDecider, [event], before);
  assert.ok(before && after);
  const stored = { metadata: { at: p.minute(9) } } as StoredEvent;
  const seen: SeenEventOf<'payment'> = { category: 'payment', before, after, event, stored, introduced: new Map() };

  it('is no sale: statistics do not count it', () => assert.deepEqual(hourlyStats.project(seen), []));

  it('earns nobody credit, because nobody paid it', () => assert.deepEqual(todoCredits.project(seen), []));

  it('causes no webhook: its app has requested it', () => {
    assert.equal(after.terms.webhookUrl, null);
  });
});
