/** Webhooks of endpoints besides the webhook URL: one per event and endpoint that chose its type. */
import assert from 'node:assert/strict';
import type { StoredEvent } from '../../domain/decider.ts';
import { createPayment, type Terms } from '../../domain/payment/create.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { deliveryIdOf, endpointDeliveryIdOf, laterWebhookEventTypes } from '../../domain/webhook.ts';
import type { SeenEventOf } from '../../projections/projection.ts';
import { todoWebhooks } from '../../projections/todos.ts';
import { bounced, confirmed, detected, done, expired, minute, payin, terms } from '../support/payments.ts';

const books = {
  endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2',
  url: 'https://books.example/paid',
  types: ['payment_payout_completed', 'payment_held'],
};
const alarm = {
  endpointId: '5b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2',
  url: 'https://alarm.example/',
  types: ['payment_held'],
};
const late = payin({ tx: 'late', at: minute(70) });
const lateLife = [expired(), detected(late), confirmed(late), bounced('latePayin', '10.00')];
const idOf = (at: number): string => `0198f3c2-0000-4000-9000-0000000000${String(at).padStart(2, '0')}`;

/** Rows of a payment's whole life. */
function rowsOf(rest: readonly PaymentEvent[], more: Partial<Terms>, introducedAt = 0n) {
  const introduced = new Map(laterWebhookEventTypes.map((type) => [type, introducedAt]));
  let state: PaymentState = paymentDecider.initial;
  const order = { ...terms({ webhookUrl: null }), ...more };
  return [...(createPayment(null, order) as readonly PaymentEvent[]), ...rest].flatMap((event, at) => {
    const [before, after] = [state, paymentDecider.evolve(state, event)];
    state = after;
    const stored = { id: idOf(at), revision: BigInt(at), position: BigInt(at + 1), metadata: { at: minute(at) } };
    const seen = { category: 'payment', event, stored: stored as StoredEvent, before, after, introduced };
    return todoWebhooks
      .project(seen as unknown as SeenEventOf<'payment'>)
      .map((change) => ('row' in change ? change.row : assert.fail('only new rows')));
  });
}
const told = (rows: ReturnType<typeof rowsOf>) => rows.map((row) => `${row['event_type']} ${row['url']}`);

describe('webhooks of further endpoints', () => {
  const [, ...paid] = done;

  it('go to endpoints that chose the type, without a webhook URL too', () => {
    assert.deepEqual(told(rowsOf(paid, { webhookEndpoints: [books, alarm] })), [
      `payment_payout_completed ${books.url}`,
    ]);
    assert.deepEqual(told(rowsOf(lateLife, { webhookEndpoints: [books, alarm] })), [
      `payment_held ${books.url}`,
      `payment_held ${alarm.url}`,
    ]);
  });

  it('leave the webhook URL’s own webhooks as they are', () => {
    const url = 'https://shop.example/hook';
    const alone = rowsOf(paid, { webhookUrl: url });
    const beside = rowsOf(paid, { webhookUrl: url, webhookEndpoints: [books, alarm] });
    assert.deepEqual(
      beside.filter((row) => row['endpoint_id'] === null),
      alone,
    );
    assert.equal(beside.length, alone.length + 1);
  });

  it('have an id of their own per event and endpoint', () => {
    const [one, two] = rowsOf(lateLife, { webhookEndpoints: [books, alarm] });
    const event = String(one?.['event_id']);
    assert.deepEqual(
      [one?.['delivery_id'], two?.['delivery_id']],
      [endpointDeliveryIdOf(event, books.endpointId), endpointDeliveryIdOf(event, alarm.endpointId)],
    );
    assert.notEqual(one?.['delivery_id'], deliveryIdOf(event));
  });

  it('report no event of a later type from before its introduction', () => {
    assert.deepEqual(told(rowsOf(lateLife, { webhookEndpoints: [alarm] }, 100n)), []);
  });

  it('are frozen with the payment: a payment without endpoints has no field of them', () => {
    const [created] = createPayment(null, terms()) as readonly PaymentEvent[];
    assert.ok(created && !('webhookEndpoints' in created.data));
  });
});
