import assert from 'node:assert/strict';
import {
  appKind,
  type IssuedKey,
  issueKey,
  type MerchantEvent,
  merchant,
  merchantEventSchemas,
  register,
  revokeKey,
  rotateSecret,
  type SettlementWallet,
  setKeylessCreation,
  setSettlement,
  setWebhookUrl,
} from '../../domain/merchant.ts';
import { instant } from '../../domain/time.ts';
import { stellarReceiver } from '../support/contractPayments.ts';
import { stellarUsdc } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(merchant);

const registration = { appId: 'merchant_bakery', idSalt: 'ab'.repeat(32), registeredAt: instant(0) };
const secret = { ciphertext: 'v1.key.sealed', fingerprint: `sha256:${'1'.repeat(64)}` };
const url = 'https://bakery.example/webhooks';
const wallet: SettlementWallet = {
  chainId: 8453,
  token: { symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
  receiverAddress: '0x00000000000000000000000000000000000000aa',
  receiverMemo: null,
};
const key: IssuedKey = { keyId: 'key-1', scope: 'orders', hash: 'c'.repeat(64), hint: 'pi_live_…abcd', name: 'till' };

const registered: MerchantEvent = { type: 'MerchantRegistered', data: registration };
const registeredWallet: MerchantEvent = {
  type: 'MerchantRegistered',
  data: { ...registration, appId: 'wallet_bakery' },
};
const rotated: MerchantEvent = { type: 'WebhookSecretRotated', data: secret };
const urlSet: MerchantEvent = { type: 'WebhookUrlSet', data: { url } };
const settled: MerchantEvent = { type: 'SettlementWalletSet', data: wallet };
const issued: MerchantEvent = { type: 'ApiKeyIssued', data: key };
const revoked: MerchantEvent = { type: 'ApiKeyRevoked', data: { keyId: key.keyId } };

describe('merchant', () => {
  describe('registration', () => {
    it('begins with webhook URL and secret', () =>
      given([])
        .when((state) => register(state, registration, url, secret))
        .then([registered, urlSet, rotated]));

    it('may leave the webhook URL for later', () =>
      given([])
        .when((state) => register(state, registration, null, secret))
        .then([registered, rotated]));

    it('happens once: salt and secret of the first stay', () =>
      given([registered])
        .when((state) => register(state, { ...registration, idSalt: 'cd'.repeat(32) }, url, secret))
        .thenNothing());

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
          .when((state) => register(state, { ...registration, appId }, url, secret))
          .thenRefused('invalidRequest', /appId/));
    }

    it('comes before everything else', () => {
      given([])
        .when((state) => setSettlement(state, wallet))
        .thenRefused('illegalStep');
      given([])
        .when((state) => setWebhookUrl(state, url))
        .thenRefused('illegalStep');
      given([])
        .when((state) => rotateSecret(state, secret))
        .thenRefused('illegalStep');
      given([])
        .when((state) => setKeylessCreation(state, true))
        .thenRefused('illegalStep');
      given([])
        .when((state) => issueKey(state, key))
        .thenRefused('illegalStep');
    });
  });

  it('tells the kind of an app by its id', () => {
    assert.equal(appKind('merchant_a'), 'merchant');
    assert.equal(appKind('wallet_a-b_c9'), 'wallet');
    assert.equal(appKind('wallet_a\n'), undefined);
    assert.equal(appKind('xwallet_a'), undefined);
  });

  describe('settlement wallet', () => {
    it('is set, and set again only when it differs', () => {
      given([registered])
        .when((state) => setSettlement(state, wallet))
        .then([settled]);
      given([registered, settled])
        .when((state) => setSettlement(state, { ...wallet }))
        .thenNothing();
      const other = { ...wallet, receiverAddress: '0x00000000000000000000000000000000000000bb' };
      given([registered, settled])
        .when((state) => setSettlement(state, other))
        .then([{ type: 'SettlementWalletSet', data: other }]);
    });

    it('takes a token of the catalogue by its contract, not by its symbol', () => {
      const fake = { ...wallet, token: { ...wallet.token, address: '0x00000000000000000000000000000000000000cc' } };
      given([registered])
        .when((state) => setSettlement(state, fake))
        .thenRefused('invalidRequest', /pays out no/);
      given([registered])
        .when((state) => setSettlement(state, { ...wallet, token: { ...wallet.token, decimals: 18 } }))
        .thenRefused('invalidRequest', /pays out no/);
    });

    it('takes only a memo that its chain can carry', () => {
      given([registered])
        .when((state) => setSettlement(state, { ...wallet, receiverMemo: '7' }))
        .thenRefused('invalidRequest', /carry no memo/);
      const { chain, token } = stellarUsdc;
      const onStellar = { chainId: chain.id, token, receiverAddress: stellarReceiver, receiverMemo: 'x'.repeat(28) };
      given([registered])
        .when((state) => setSettlement(state, onStellar))
        .then([{ type: 'SettlementWalletSet', data: onStellar }]);
      given([registered])
        .when((state) => setSettlement(state, { ...onStellar, receiverMemo: 'x'.repeat(29) }))
        .thenRefused('invalidRequest', /28 bytes/);
    });
  });

  describe('webhook settings', () => {
    it('change the URL, or take it away', () => {
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
      const next = { ciphertext: 'v1.key.other', fingerprint: `sha256:${'2'.repeat(64)}` };
      given([registered, rotated])
        .when((state) => rotateSecret(state, next))
        .then([{ type: 'WebhookSecretRotated', data: next }]);
      given([registered, rotated])
        .when((state) => rotateSecret(state, secret))
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
        .when((state) => issueKey(state, key))
        .then([issued]);
      given([registered, issued])
        .when((state) => issueKey(state, key))
        .thenNothing();
      given([registered, issued])
        .when((state) => revokeKey(state, key.keyId))
        .then([revoked]);
      given([registered, issued, revoked])
        .when((state) => revokeKey(state, key.keyId))
        .thenNothing();
    });

    it('cannot be revoked when they never were', () =>
      given([registered])
        .when((state) => revokeKey(state, 'key-9'))
        .thenRefused('invalidRequest', /no key/));

    it('are at most 50 at a time; a revoked one makes room', () => {
      const fifty = Array.from(
        { length: 50 },
        (_, n): MerchantEvent => ({ type: 'ApiKeyIssued', data: { ...key, keyId: `key-${n}` } }),
      );
      const next = { ...key, keyId: 'key-next' };
      given([registered, ...fifty])
        .when((state) => issueKey(state, next))
        .thenRefused('forbidden');
      given([registered, ...fifty, revoked])
        .when((state) => issueKey(state, next))
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
    ]));
});
