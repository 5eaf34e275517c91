/** The app ends a payment early, and adds a note and tags. */
import assert from 'node:assert/strict';
import { isRefusal, type Refusal } from '../../../domain/decider.ts';
import { expire } from '../../../domain/payment/close.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { recordPayin } from '../../../domain/payment/payins.ts';
import { evolve, type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { annotatePayment, cancelPayment, noteLimits } from '../../../domain/payment/tending.ts';
import { viewOf } from '../../../domain/payment/view.ts';
import * as p from '../../support/payments.ts';

const fold = (...events: readonly PaymentEvent[]): Payment => {
  const state = events.reduce<PaymentState>(evolve, paymentDecider.initial);
  assert.ok(state);
  return state;
};
const refused = (decision: readonly PaymentEvent[] | Refusal): Refusal => {
  assert.ok(isRefusal(decision), 'it was not refused');
  return decision;
};
const decided = (decision: readonly PaymentEvent[] | Refusal): readonly PaymentEvent[] => {
  assert.ok(!isRefusal(decision), JSON.stringify(decision));
  return decision;
};
const scanned = (minute: number) => ({ scannedTo: () => p.minute(minute), now: p.minute(minute) });

describe('a payment that its app cancels', () => {
  it('ends as soon as its chain is read past that moment, not before', () => {
    const open = fold(p.created());
    const [event, ...none] = decided(cancelPayment(open, p.minute(10)));
    assert.deepEqual([event?.type, none.length], ['PaymentCancelled', 0]);
    assert.ok(event);
    const cancelled = evolve(open, event);
    assert.equal(viewOf(cancelled as Payment, p.minute(10)).expiresAt, p.minute(10));
    assert.match(refused(expire(cancelled, scanned(10))).message, /not yet past/);
    assert.deepEqual(
      decided(expire(cancelled, scanned(11))).map(({ type }) => type),
      ['PaymentExpired'],
    );
    assert.match(refused(expire(open, scanned(11))).message, /not yet past/, 'without a cancellation it stays open');
  });

  it('counts payins of blocks until then, and holds later ones', () => {
    const cancelled = fold(p.created(), ...decided(cancelPayment(fold(p.created()), p.minute(10))));
    const onTime = p.payin({ tx: 'on time', at: p.minute(10) });
    const late = p.payin({ tx: 'late', at: p.minute(11) });
    const seen = [p.detected(onTime), p.detected(late)].reduce<PaymentState>(evolve, cancelled);
    assert.deepEqual(
      seen?.payins.map(({ standing }) => standing),
      ['counted', 'late'],
    );
  });

  it('is never paid by later money, also if the policy accepts late money', () => {
    const policy = { late: 'accept', lateWithin_minutes: 30 } as const;
    const open = p.created({ policy });
    const typesAfter = (state: Payment, minute: number) => {
      const ended = decided(expire(state, scanned(minute))).reduce<PaymentState>(evolve, state);
      const transfer = p.payin({ tx: 'late', at: p.minute(minute + 4) });
      return decided(recordPayin(ended, { transfer, final: true, now: p.minute(minute + 5) })).map(({ type }) => type);
    };
    const cancelled = fold(open, ...decided(cancelPayment(fold(open), p.minute(10))));
    assert.ok(!typesAfter(cancelled, 11).includes('PaymentFunded'));
    assert.ok(typesAfter(fold(open), 61).includes('PaymentFunded'), 'without a cancel it pays');
  });

  it('still counts payins by the clock of a chain that is ahead', () => {
    const ahead = p.payin({ tx: 'ahead', at: p.minute(12), amount: '1.00' });
    const open = fold(p.created(), p.detected(ahead));
    const cancelled = fold(p.created(), p.detected(ahead), ...decided(cancelPayment(open, p.minute(10))));
    assert.equal(cancelled.terms.expiresAt, p.minute(12));
    const moved = evolve(cancelled, p.confirmed(ahead));
    assert.equal(moved?.payins[0]?.standing, 'counted');
  });

  it('is cancelled once', () => {
    const open = fold(p.created());
    const cancelled = fold(p.created(), ...decided(cancelPayment(open, p.minute(10))));
    assert.deepEqual(decided(cancelPayment(cancelled, p.minute(20))), []);
  });

  it('is not cancelled when the amount due has been detected, or when it is paid, over or created without a key', () => {
    const at = p.minute(10);
    assert.match(refused(cancelPayment(fold(p.created(), p.detected()), at)).message, /has been seen/);
    assert.match(refused(cancelPayment(fold(...p.done), at)).message, /is paid/);
    assert.match(refused(cancelPayment(fold(p.created(), p.expired()), at)).message, /has ended already/);
    assert.match(refused(cancelPayment(fold(p.created()), p.minute(61))).message, /time to pay is over/);
    const keyless = fold({ ...p.created(), data: { ...p.created().data, keyless: true } } as PaymentEvent);
    assert.match(refused(cancelPayment(keyless, at)).message, /without a key/);
    assert.equal(refused(cancelPayment(null, at)).refused, 'paymentNotFound');
  });
});

describe('a note and tags', () => {
  const annotate = (payment: PaymentState, note: string | null, ...tags: string[]) =>
    annotatePayment(payment, { note, tags }, p.minute(20));

  it('are kept in lower case, sorted, each once; the same again changes nothing', () => {
    const open = fold(p.created());
    const [event] = decided(annotate(open, '  Called <b>them</b> ', 'Zürich', 'wholesale', 'WHOLESALE', ''));
    assert.deepEqual(event?.data, {
      note: 'Called <b>them</b>',
      tags: ['wholesale', 'zürich'],
      annotatedAt: p.minute(20),
    });
    assert.ok(event);
    const noted = evolve(open, event);
    assert.deepEqual(decided(annotate(noted, 'Called <b>them</b>', 'wholesale', 'zürich')), []);
    const view = viewOf(noted as Payment, p.minute(20));
    assert.deepEqual([view.note, view.tags], ['Called <b>them</b>', ['wholesale', 'zürich']]);
    const [emptied] = decided(annotate(noted, ' '));
    assert.ok(emptied);
    const without = viewOf(evolve(noted, emptied) as Payment, p.minute(21));
    assert.deepEqual([without.note, without.tags], [null, null]);
  });

  it('have bounds, and tags hold no markup, no formula and no separator', () => {
    const open = fold(p.created());
    assert.equal(refused(annotate(open, 'x'.repeat(noteLimits.note_characters + 1))).pointer, '/note');
    const many = Array.from({ length: noteLimits.tags + 1 }, (_, n) => `tag${n}`);
    assert.equal(refused(annotate(open, null, ...many)).pointer, '/tags');
    for (const tag of ['<b>', '=1+1', 'a b', 'a,b', '-a', '#a', '"', 'x'.repeat(33), '\u202e', 'a\u0000'])
      assert.equal(refused(annotate(open, null, tag)).pointer, '/tags', tag);
  });

  it('do not displace payins in the stream', () => {
    let state: PaymentState = fold(p.created());
    for (let n = 0; n < noteLimits.changes; n += 1) {
      const [event] = decided(annotate(state, `note ${n}`));
      assert.ok(event);
      state = evolve(state, event);
    }
    assert.equal(refused(annotate(state, 'one more')).refused, 'conflict');
  });
});
