import assert from 'node:assert/strict';
import { appKind, register, setKeylessCreation, setOwner, setSettlement } from '../../domain/merchant/app.ts';
import { type MerchantEvent, merchantEventSchemas } from '../../domain/merchant/events.ts';
import { issueKey, renameKey, revokeKey } from '../../domain/merchant/keys.ts';
import { rotateSecret, setWebhookTypes, setWebhookUrl } from '../../domain/merchant/webhook.ts';
import { instant } from '../../domain/time.ts';
import {
  given,
  issued,
  key,
  later,
  named,
  newApp,
  now,
  ofAda,
  registered,
  registeredWallet,
  revoked,
  rotated,
  secret,
  settled,
  url,
  urlSet,
  wallet,
} from '../support/bakery.ts';

describe('merchant', () => {
  describe('registration', () => {
    it('begins with webhook URL and secret', () =>
      given([])
        .when((state) => register(state, newApp))
        .then([registered, urlSet, rotated]));

    it('may set the webhook URL later', () =>
      given([])
        .when((state) => register(state, { ...newApp, webhookUrl: null }))
        .then([registered, rotated]));

    it('happens once: salt and secret of the first registration remain', () =>
      given([registered])
        .when((state) => register(state, { ...newApp, idSalt: 'cd'.repeat(32) }))
        .thenNothing());

    it('may include owner, wallet and name', () =>
      given([])
        .when((state) =>
          register(state, { ...newApp, developerId: 'ada', settlement: wallet, profile: 'd'.repeat(64) }),
        )
        .then([ofAda, urlSet, rotated, settled, named]));

    it('is refused for another person’s app, and done for one’s own', () => {
      given([ofAda])
        .when((state) => register(state, { ...newApp, developerId: 'ada' }))
        .thenNothing();
      for (const theirs of [ofAda, registered])
        given([theirs])
          .when((state) => register(state, { ...newApp, developerId: 'eve' }))
          .thenRefused('appIdTaken', /taken/);
    });

    it('gives the app to another owner by the operator’s command', () => {
      const handedOver: MerchantEvent = { type: 'OwnerSet', data: { developerId: 'bob' } };
      given([ofAda])
        .when((state) => setOwner(state, 'bob'))
        .then([handedOver]);
      given([ofAda, handedOver])
        .when((state) => setOwner(state, 'bob'))
        .thenNothing();
    });

    for (const appId of [
      'bakery',
      'merchant_',
      'merchant_Bakery',
      'shop_bakery',
      'merchant_-x',
      `merchant_${'x'.repeat(49)}`,
    ]) {
      it(`refuses the appId ${appId.slice(0, 20)}`, () =>
        given([])
          .when((state) => register(state, { ...newApp, appId }))
          .thenRefused('invalidRequest', /appId/));
    }

    it('precedes everything else', () => {
      given([])
        .when((state) => setSettlement(state, wallet))
        .thenRefused('illegalStep');
      given([])
        .when((state) => setWebhookUrl(state, url))
        .thenRefused('illegalStep');
      given([])
        .when((state) => rotateSecret(state, { ...secret, rotatedAt: now }))
        .thenRefused('illegalStep');
      given([])
        .when((state) => setKeylessCreation(state, true))
        .thenRefused('illegalStep');
      given([])
        .when((state) => issueKey(state, key, now))
        .thenRefused('illegalStep');
    });
  });

  it('states the kind of an app by its id', () => {
    assert.equal(appKind('merchant_a'), 'merchant');
    assert.equal(appKind('wallet_a-b_c9'), 'wallet');
    assert.equal(appKind('wallet_a\n'), undefined);
    assert.equal(appKind('xwallet_a'), undefined);
  });

  it('is changed 10,000 times at most; protective changes are always possible', () => {
    const many = Array.from({ length: 9_998 }, () => rotated);
    const past = [registered, issued, ...many];
    given(past)
      .when((state) => setWebhookUrl(state, url))
      .thenRefused('forbidden', /10000 times/);
    given(past)
      .when((state) => revokeKey(state, key.keyId))
      .then([revoked]);
  });

  describe('webhook settings', () => {
    it('list no type that this version does not send, and the first two are sent without being listed', () => {
      for (const type of ['payment_later', 'payment_payin_completed', 'webhook_test', ''])
        given([registered])
          .when((state) => setWebhookTypes(state, [type]))
          .thenRefused('invalidRequest');
      given([registered])
        .when((state) => setWebhookTypes(state, []))
        .thenNothing();
    });

    it('list later types in one order, each once', () => {
      given([registered])
        .when((state) => setWebhookTypes(state, ['payment_refunded', 'payment_held', 'payment_held']))
        .then([{ type: 'WebhookTypesSet', data: { types: ['payment_held', 'payment_refunded'] } }]);
    });

    it('drop a type that an app had chosen from another version', () => {
      given([registered, { type: 'WebhookTypesSet', data: { types: ['payment_later'] } }])
        .when((state) => setWebhookTypes(state, []))
        .then([{ type: 'WebhookTypesSet', data: { types: [] } }]);
    });

    it('change the URL, or remove it', () => {
      given([registered])
        .when((state) => setWebhookUrl(state, url))
        .then([urlSet]);
      given([registered, urlSet])
        .when((state) => setWebhookUrl(state, url))
        .thenNothing();
      given([registered, urlSet])
        .when((state) => setWebhookUrl(state, null))
        .then([{ type: 'WebhookUrlSet', data: { url: null } }]);
    });

    for (const bad of [
      'http://bakery.example/',
      'bakery',
      'https://user:pass@bakery.example/',
      `https://x/${'y'.repeat(2_048)}`,
      ' https://bakery.example/',
      'https://bakery.example/ ',
      '\thttps://bakery.example/',
      'https://bakery.example/a\nb',
      'https://bakery.example/a b',
      'https:bakery.example',
      'https:/bakery.example',
      'https:///bakery.example',
      'https:\\\\bakery.example',
      'https://\u200bbakery.example/',
      'https://bakery.example/#top',
      'HTTP://bakery.example/',
    ]) {
      it(`refuse ${bad.slice(0, 40)}`, () =>
        given([registered])
          .when((state) => setWebhookUrl(state, bad))
          .thenRefused('invalidRequest', /webhookUrl/));
    }

    for (const [spelled, kept] of [
      ['HTTPS://Bakery.Example', 'https://bakery.example/'],
      ['https://bakery.example:443/Hooks?To=A', 'https://bakery.example/Hooks?To=A'],
      ['https://bäckerei.example/', 'https://xn--bckerei-5wa.example/'],
      ['https://bakery.example/a/../hooks', 'https://bakery.example/hooks'],
    ] as const) {
      it(`keep ${spelled} as ${kept}, once`, () => {
        const set: MerchantEvent = { type: 'WebhookUrlSet', data: { url: kept } };
        given([registered])
          .when((state) => setWebhookUrl(state, spelled))
          .then([set]);
        given([registered, set])
          .when((state) => setWebhookUrl(state, spelled))
          .thenNothing();
      });
    }

    it('rotate the secret', () => {
      const next = { ciphertext: 'v1.key.other', fingerprint: `sha256:${'2'.repeat(64)}`, rotatedAt: instant(1) };
      given([registered, rotated])
        .when((state) => rotateSecret(state, next))
        .then([{ type: 'WebhookSecretRotated', data: next }]);
      given([registered, rotated])
        .when((state) => rotateSecret(state, { ...secret, rotatedAt: now }))
        .thenNothing();
    });
  });

  describe('creation without a key', () => {
    it('is opened for a wallet app, and closed again', () => {
      const opened: MerchantEvent = { type: 'KeylessCreationSet', data: { allowed: true } };
      given([registeredWallet])
        .when((state) => setKeylessCreation(state, true))
        .then([opened]);
      given([registeredWallet, opened])
        .when((state) => setKeylessCreation(state, true))
        .thenNothing();
      given([registeredWallet, opened])
        .when((state) => setKeylessCreation(state, false))
        .then([{ type: 'KeylessCreationSet', data: { allowed: false } }]);
    });

    it('is never open for a merchant app: anybody could fill its books', () =>
      given([registered])
        .when((state) => setKeylessCreation(state, true))
        .thenRefused('forbidden'));
  });

  describe('API keys', () => {
    it('are issued and revoked, each once', () => {
      given([registered])
        .when((state) => issueKey(state, key, now))
        .then([issued]);
      given([registered, issued])
        .when((state) => issueKey(state, key, now))
        .thenNothing();
      given([registered, issued])
        .when((state) => revokeKey(state, key.keyId))
        .then([revoked]);
      given([registered, issued, revoked])
        .when((state) => revokeKey(state, key.keyId))
        .thenNothing();
    });

    it('are renamed', () => {
      const named: MerchantEvent = { type: 'ApiKeyRenamed', data: { keyId: key.keyId, name: 'new till' } };
      given([registered, issued])
        .when((state) => renameKey(state, key.keyId, 'new till'))
        .then([named]);
      given([registered, issued, named])
        .when((state) => renameKey(state, key.keyId, 'new till'))
        .thenNothing();
      given([registered])
        .when((state) => renameKey(state, 'key-9', 'new till'))
        .thenRefused('notFound', /no key/);
    });

    it('expire at their time, in the future only', () => {
      given([registered])
        .when((state) => issueKey(state, { ...key, expiresAt: now }, now))
        .thenRefused('invalidRequest', /future/);
      given([registered])
        .when((state) => issueKey(state, { ...key, expiresAt: later }, now))
        .then([{ type: 'ApiKeyIssued', data: { ...key, expiresAt: later } }]);
    });

    it('cannot be revoked if they were never issued', () =>
      given([registered])
        .when((state) => revokeKey(state, 'key-9'))
        .thenRefused('notFound', /no key/));

    it('are at most 50 at a time; a revoked or expired one frees a place', () => {
      const fifty = Array.from(
        { length: 50 },
        (_, n): MerchantEvent => ({ type: 'ApiKeyIssued', data: { ...key, keyId: `key-${n}` } }),
      );
      const next = { ...key, keyId: 'key-next' };
      given([registered, ...fifty])
        .when((state) => issueKey(state, next, now))
        .thenRefused('forbidden');
      given([registered, ...fifty, revoked])
        .when((state) => issueKey(state, next, now))
        .then([{ type: 'ApiKeyIssued', data: next }]);
      const short: MerchantEvent = { type: 'ApiKeyIssued', data: { ...key, keyId: 'short', expiresAt: later } };
      given([registered, ...fifty.slice(1), short])
        .when((state) => issueKey(state, next, now))
        .thenRefused('forbidden');
      given([registered, ...fifty.slice(1), short])
        .when((state) => issueKey(state, next, later))
        .then([{ type: 'ApiKeyIssued', data: next }]);
    });
  });

  it('stores a key as its hash only', () =>
    assert.deepEqual(Object.keys(merchantEventSchemas.ApiKeyIssued.properties), [
      'keyId',
      'scope',
      'hash',
      'hint',
      'name',
      'expiresAt',
    ]));
});
