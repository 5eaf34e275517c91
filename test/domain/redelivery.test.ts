import assert from 'node:assert/strict';
import { fold, isRefusal } from '../../domain/decider.ts';
import { plus } from '../../domain/time.ts';
import {
  mayRedeliver,
  recordOutcome,
  redeliveriesMax,
  redeliveryOf,
  startSend,
  underWay_ms,
  type WebhookEvent,
  type WebhookState,
  webhook,
} from '../../domain/webhook.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';

const start = deliveryStart();
const later = plus(start.startedAt, underWay_ms);

/** @param statusCode of the answer; null without an answer in time, undefined if the outcome is unknown */
function sent(statusCode: number | null | undefined, more = {}): WebhookState {
  const begun = fold(webhook, startSend(webhook.initial, { ...start, ...more }) as readonly WebhookEvent[]);
  return statusCode === undefined
    ? begun
    : fold(webhook, recordOutcome(begun, deliveryOutcome(statusCode)) as readonly WebhookEvent[], begun);
}

describe('a delivery', () => {
  for (const [how, state] of [
    ['answered 500', sent(500)],
    ['answered by a redirect', sent(302)],
    ['without an answer', sent(null)],
    ['whose outcome nobody knows any more', sent(undefined)],
  ] as const) {
    it(`${how} may be redelivered`, () => assert.deepEqual(mayRedeliver(state, later), start));
  }

  const refused = (state: WebhookState, now = later) => {
    const answer = mayRedeliver(state, now);
    return isRefusal(answer) ? answer.refused : 'none';
  };

  it('is not redelivered if it was accepted', () => assert.equal(refused(sent(204)), 'deliveryNotRedeliverable'));

  it('is not redelivered if it may be in flight', () => {
    const justBefore = plus(start.startedAt, underWay_ms - 1);
    assert.equal(refused(sent(undefined), justBefore), 'deliveryNotRedeliverable');
    assert.deepEqual(mayRedeliver(sent(500), justBefore), start, 'its outcome is known: nothing is under way');
  });

  it('is not redelivered if its endpoint was removed', () => {
    const outcome = { ...deliveryOutcome(null), error: 'endpointRemoved', request: null } as const;
    const begun = sent(undefined, { endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2' });
    const ended = fold(webhook, recordOutcome(begun, outcome) as readonly WebhookEvent[], begun);
    assert.equal(refused(ended), 'deliveryNotRedeliverable');
  });

  it('is not redelivered if it is a test', () =>
    assert.equal(refused(sent(500, { kind: 'test' })), 'deliveryNotRedeliverable'));

  it('is not redelivered if it was never made', () => assert.equal(refused(webhook.initial), 'deliveryNotFound'));

  it(`is redelivered ${redeliveriesMax} times, no more`, () => {
    assert.equal(refused(sent(500, { ordinal: redeliveriesMax - 1 })), 'none');
    assert.equal(refused(sent(500, { ordinal: redeliveriesMax })), 'deliveryNotRedeliverable');
  });
});

describe('a redelivery', () => {
  const { startedAt: _, ...same } = start;

  it('has the same event, the same URL, and names the first delivery', () =>
    assert.deepEqual(redeliveryOf(start, 'again'), {
      ...same,
      deliveryId: 'again',
      kind: 'manual',
      firstDeliveryId: start.deliveryId,
      ordinal: 1,
    }));

  it('names the first delivery as well if it repeats a redelivery', () => {
    const again = { ...redeliveryOf(start, 'again'), startedAt: later };
    assert.partialDeepStrictEqual(redeliveryOf(again, 'once more'), { firstDeliveryId: start.deliveryId, ordinal: 2 });
  });
});
