/** Webhooks that an app chose besides the first two: which event of a payment leads to which type. */
import assert from 'node:assert/strict';
import type { StoredEvent } from '../../domain/decider.ts';
import { createPayment } from '../../domain/payment/create.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { laterWebhookEventTypes } from '../../domain/webhook.ts';
import type { SeenEventOf } from '../../projections/projection.ts';
import { todoWebhooks } from '../../projections/todos.ts';
import {
  baseUsdc,
  bounced,
  confirmed,
  detected,
  done,
  ethereumUsdt,
  event,
  expired,
  funded,
  minute,
  payin,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  terms,
} from '../support/payments.ts';

/** Returns the webhooks of a payment's whole life, in its order. */
function webhooksOf(rest: readonly PaymentEvent[], webhookTypes: readonly string[] = laterWebhookEventTypes) {
  const order = { ...terms({ webhookUrl: 'https://shop.example/hook' }), webhookTypes };
  const introduced = new Map(laterWebhookEventTypes.map((type) => [type, 0n]));
  let state: PaymentState = paymentDecider.initial;
  return [...(createPayment(null, order) as readonly PaymentEvent[]), ...rest].flatMap((event, at) => {
    const [before, after] = [state, paymentDecider.evolve(state, event)];
    state = after;
    const stored = { id: `event-${at}`, revision: BigInt(at), position: BigInt(at + 1), metadata: { at: minute(at) } };
    const seen = { category: 'payment', event, stored: stored as StoredEvent, before, after, introduced };
    return todoWebhooks
      .project(seen as unknown as SeenEventOf<'payment'>)
      .map((change) => 'row' in change && change.row['event_type']);
  });
}

const late = payin({ tx: 'late', at: minute(70) });
const wrong = payin({ tx: 'wrong', in: ethereumUsdt });
const back = refundAttempt(1, '10.00');
const refund: readonly PaymentEvent[] = [refundRequested('10.00'), refundSigned(1, back), refundSettled(1, back)];

describe('webhooks of held, bounced, expired and refunded payments', () => {
  it('go to apps that chose them, and to no other', () => {
    const life = [expired(), detected(late), confirmed(late), bounced('latePayin', '10.00'), ...refund];
    const all = ['payment_expired', 'payment_held', 'payment_bounced', 'payment_refunded'];
    assert.deepEqual(webhooksOf(life), all);
    for (const type of all) assert.deepEqual(webhooksOf(life, [type]), [type]);
    assert.deepEqual(webhooksOf(life, []), []);
  });

  it('leave the first two types as they are', () => {
    const first = ['payment_payin_completed', 'payment_payout_completed'];
    assert.deepEqual(webhooksOf(done.slice(1)), first);
    assert.deepEqual(webhooksOf(done.slice(1), []), first);
  });

  it('report money that does not count, but no payin that counts', () => {
    assert.deepEqual(webhooksOf([detected(wrong), confirmed(wrong)]), ['payment_held']);
    assert.deepEqual(webhooksOf([detected(), confirmed()]), []);
    const second = payin({ tx: 'second' });
    assert.deepEqual(webhooksOf([detected(), confirmed(), funded(), detected(second), confirmed(second)]), [
      'payment_payin_completed',
      'payment_held',
    ]);
  });

  it('report each refund, and none twice', () => {
    const again = { ...refundRequested('2.00', { refund: 2, in: baseUsdc }) };
    const second = refundAttempt(1, '2.00', { nonce: '9' });
    const twice = [...refund, again, refundSigned(2, second), refundSettled(2, second)];
    assert.deepEqual(webhooksOf([expired(), detected(late), confirmed(late), ...twice], ['payment_refunded']), [
      'payment_refunded',
      'payment_refunded',
    ]);
    const { hash, blockHash } = refundSettled(1, back).data;
    const orphaned = event('RefundOrphaned', { refund: 1, attempt: 1, hash, blockHash });
    const confirmedAgain = [...refund, orphaned, refundSettled(1, back)];
    assert.deepEqual(
      webhooksOf([expired(), detected(late), confirmed(late), ...confirmedAgain], ['payment_refunded']),
      ['payment_refunded'],
    );
  });
});
