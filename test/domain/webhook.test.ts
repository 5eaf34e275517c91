import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Check } from 'typebox/value';
import { InvariantBroken } from '../../domain/decider.ts';
import {
  deliveryIdOf,
  recordOutcome,
  startSend,
  type WebhookEvent,
  webhook,
  webhookEventSchemas,
} from '../../domain/webhook.ts';
import { deliveryOutcome, deliveryStart } from '../support/deliveries.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(webhook);

const start = deliveryStart();
const outcome = deliveryOutcome;
const started: WebhookEvent = { type: 'WebhookSendStarted', data: start };

describe('webhook delivery', () => {
  it('is claimed by its start', () =>
    given([])
      .when((state) => startSend(state, start))
      .then([started]));

  it('is never claimed twice, whether or not its outcome is known', () => {
    given([started])
      .when((state) => startSend(state, start))
      .thenNothing();
    given([started, { type: 'WebhookExhausted', data: outcome(null) }])
      .when((state) => startSend(state, start))
      .thenNothing();
  });

  for (const status of [200, 204, 299]) {
    it(`is delivered by an answer ${status}`, () =>
      given([started])
        .when((state) => recordOutcome(state, outcome(status)))
        .then([{ type: 'WebhookDelivered', data: outcome(status) }]));
  }

  for (const status of [199, 301, 302, 404, 500, null]) {
    it(`is exhausted by ${status === null ? 'no answer' : `an answer ${status}`}`, () =>
      given([started])
        .when((state) => recordOutcome(state, outcome(status)))
        .then([{ type: 'WebhookExhausted', data: outcome(status) }]));
  }

  it('keeps its first outcome', () =>
    given([started, { type: 'WebhookExhausted', data: outcome(500) }])
      .when((state) => recordOutcome(state, outcome(200)))
      .thenNothing());

  it('has no outcome before its start', () =>
    assert.throws(() => recordOutcome(webhook.initial, outcome(200)), InvariantBroken));

  it('has one id for each payment event: a UUID that is not the event id', () => {
    const event = randomUUID();
    assert.match(deliveryIdOf(event), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(deliveryIdOf(event), deliveryIdOf(event));
    assert.notEqual(deliveryIdOf(event), event);
    assert.notEqual(deliveryIdOf(event), deliveryIdOf(randomUUID()));
  });

  it('stores no answer that Postgres could not hold', () => {
    const schema = webhookEventSchemas.WebhookDelivered;
    assert(Check(schema, { ...outcome(200), responsePreview: '😀'.repeat(200) }));
    assert(!Check(schema, { ...outcome(200), responsePreview: 'a\u0000b' }));
  });
});
