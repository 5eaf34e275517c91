/** Endpoints of an app besides its webhook URL. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { changesMax, type MerchantState, merchant } from '../../domain/merchant/state.ts';
import {
  addEndpoint,
  removeEndpoint,
  resealWebhookSecrets,
  rotateEndpointSecret,
  setEndpointTypes,
} from '../../domain/merchant/webhook.ts';
import { deliveryIdOf, endpointDeliveryIdOf, isDeliveryId, webhookEndpointsMax } from '../../domain/webhook.ts';
import { given, later, now, registered, secret, url, urlSet } from '../support/bakery.ts';

const endpoint = {
  endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2',
  url: 'https://books.example/paid',
  types: ['payment_payout_completed'],
  ...secret,
  rotatedAt: now,
};
const { endpointId } = endpoint;
const added = { type: 'WebhookEndpointAdded', data: endpoint } as const;
const numbered = (number: number) => ({
  ...endpoint,
  endpointId: `endpoint-${number}`,
  url: `https://books.example/${number}`,
});

describe('webhook endpoints', () => {
  it('are added with a canonical URL, and each type once', () =>
    given([registered])
      .when((state) =>
        addEndpoint(state, {
          ...endpoint,
          url: 'HTTPS://Books.Example/paid',
          types: ['payment_payout_completed', 'payment_payout_completed'],
        }),
      )
      .then([added]));

  it('are refused on a URL that webhooks cannot go to, or that gets them already', () => {
    for (const bad of ['http://books.example/', 'https://u:p@books.example/', 'books', 'http://localhost:4000'])
      given([registered])
        .when((state) => addEndpoint(state, { ...endpoint, url: bad }))
        .thenRefused('invalidRequest', /^url /);
    const again = { ...endpoint, endpointId: 'other' };
    given([registered, added])
      .when((state) => addEndpoint(state, again))
      .thenRefused('invalidRequest', /already receives/);
    given([registered, urlSet])
      .when((state) => addEndpoint(state, { ...endpoint, url }))
      .thenRefused('invalidRequest', /already receives/);
  });

  it('name at least one type, of those that exist', () => {
    for (const types of [[], ['webhook_test'], ['payment_later']]) {
      given([registered])
        .when((state) => addEndpoint(state, { ...endpoint, types }))
        .thenRefused('invalidRequest', /type/);
      given([registered, added])
        .when((state) => setEndpointTypes(state, endpointId, types))
        .thenRefused('invalidRequest', /type/);
    }
  });

  it(`are at most ${webhookEndpointsMax}; a removed one makes room`, () => {
    const full = Array.from({ length: webhookEndpointsMax }, (_, number) => ({
      type: 'WebhookEndpointAdded' as const,
      data: numbered(number),
    }));
    given([registered, ...full])
      .when((state) => addEndpoint(state, endpoint))
      .thenRefused('forbidden', /remove one first/);
    given([registered, ...full, { type: 'WebhookEndpointRemoved', data: { endpointId: 'endpoint-1' } }])
      .when((state) => addEndpoint(state, endpoint))
      .then([added]);
  });

  it('change types and secret, each by one event; the same types change nothing', () => {
    given([registered, added])
      .when((state) => setEndpointTypes(state, endpointId, ['payment_held', 'payment_bounced']))
      .then([{ type: 'WebhookEndpointTypesSet', data: { endpointId, types: ['payment_bounced', 'payment_held'] } }]);
    given([registered, added])
      .when((state) => setEndpointTypes(state, endpointId, endpoint.types))
      .thenNothing();
    const fresh = { ciphertext: 'v1.other', fingerprint: `sha256:${'2'.repeat(64)}`, rotatedAt: later };
    given([registered, added])
      .when((state) => rotateEndpointSecret(state, endpointId, fresh))
      .then([{ type: 'WebhookEndpointSecretRotated', data: { endpointId, ...fresh } }]);
  });

  it('are unknown once removed, and under another id', () => {
    const removed = { type: 'WebhookEndpointRemoved', data: { endpointId } } as const;
    given([registered, added])
      .when((state) => removeEndpoint(state, endpointId))
      .then([removed]);
    for (const decide of [
      (state: MerchantState) => removeEndpoint(state, endpointId),
      (state: MerchantState) => setEndpointTypes(state, endpointId, endpoint.types),
      (state: MerchantState) => rotateEndpointSecret(state, endpointId, { ...secret, rotatedAt: now }),
    ])
      given([registered, added, removed])
        .when(decide)
        .thenRefused('notFound', /no webhook endpoint/);
  });

  it('can be removed after any number of changes, because it protects the app', () => {
    const state = [registered, added].reduce(merchant.evolve, merchant.initial);
    const worn = { ...state, changes: changesMax };
    assert.deepEqual(removeEndpoint(worn, endpointId), [{ type: 'WebhookEndpointRemoved', data: { endpointId } }]);
  });

  it('keep their secrets under another master key, and only those', () => {
    const state = [registered, added].reduce(merchant.evolve, merchant.initial);
    const asked: (string | null)[] = [];
    const events = resealWebhookSecrets(state, (_, id) => {
      asked.push(id);
      return 'v1.new';
    });
    assert.deepEqual(asked, [endpointId]);
    const data = { endpointId, ciphertext: 'v1.new', fingerprint: secret.fingerprint };
    assert.deepEqual(events, [{ type: 'WebhookEndpointSecretResealed', data }]);
    const after = events.reduce(merchant.evolve, state);
    assert.deepEqual(after.webhookEndpoints, [{ ...endpoint, ciphertext: 'v1.new' }]);
    assert.deepEqual(
      resealWebhookSecrets(after, () => 'v1.new'),
      [],
    );
  });

  it('have one delivery id per event and endpoint, always the same, never that of the webhook URL', () => {
    const events = Array.from({ length: 20 }, () => randomUUID());
    const endpoints = Array.from({ length: webhookEndpointsMax }, () => randomUUID());
    const ids = events.flatMap((event) => [
      deliveryIdOf(event),
      ...endpoints.map((each) => endpointDeliveryIdOf(event, each)),
    ]);
    assert.equal(new Set(ids).size, events.length * (endpoints.length + 1));
    for (const id of ids) {
      assert.ok(isDeliveryId(id), id);
      assert.equal(id.charAt(14), '8');
    }
    for (const id of ids.filter((_, at) => at % 6 > 0)) assert.match(id.charAt(19), /[89ab]/);
    const [event = '', one = ''] = [events[0], endpoints[0]];
    assert.equal(endpointDeliveryIdOf(event, one), endpointDeliveryIdOf(event, one));
  });
});
