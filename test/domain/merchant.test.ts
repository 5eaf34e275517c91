import assert from 'node:assert/strict';
import { fold, isRefusal } from '../../domain/decider.ts';
import { appKind, type NewApp, register, setKeylessCreation, setOwner } from '../../domain/merchant/app.ts';
import {
  type IssuedKey,
  type MerchantEvent,
  merchantEventSchemas,
  type SettlementWallet,
} from '../../domain/merchant/events.ts';
import { issueKey, renameKey, revokeKey } from '../../domain/merchant/keys.ts';
import {
  changedFields,
  noProfile,
  type ProfileChange,
  readProfileChange,
  setProfile,
} from '../../domain/merchant/profile.ts';
import { cancelSettlement, requestSettlement, setSettlement } from '../../domain/merchant/settlement.ts';
import { type MerchantState, merchant, pendingChange, settlementAt } from '../../domain/merchant/state.ts';
import { rotateSecret, setWebhookUrl } from '../../domain/merchant/webhook.ts';
import { hour_ms, instant, plus } from '../../domain/time.ts';
import { stellarReceiver } from '../support/contractPayments.ts';
import { stellarUsdc } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(merchant);

const now = instant(0);
const later = instant(hour_ms);
const registration = { appId: 'merchant_bakery', developerId: null, idSalt: 'ab'.repeat(32), registeredAt: now };
const secret = { ciphertext: 'v1.key.sealed', fingerprint: `sha256:${'1'.repeat(64)}` };
const url = 'https://bakery.example/webhooks';
const wallet: SettlementWallet = {
  chainId: 8453,
  token: { symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
  receiverAddress: '0x00000000000000000000000000000000000000aa',
  receiverMemo: null,
};
const key: IssuedKey = {
  keyId: 'key-1',
  scope: 'orders',
  hash: 'c'.repeat(64),
  hint: 'pi_live_…abcd',
  name: 'till',
  expiresAt: null,
};

const newApp: NewApp = {
  appId: registration.appId,
  developerId: null,
  idSalt: registration.idSalt,
  webhookUrl: url,
  secret,
  settlement: null,
  profile: null,
  now,
};

const registered: MerchantEvent = { type: 'MerchantRegistered', data: registration };
const registeredWallet: MerchantEvent = {
  type: 'MerchantRegistered',
  data: { ...registration, appId: 'wallet_bakery' },
};
const ofAda: MerchantEvent = { type: 'MerchantRegistered', data: { ...registration, developerId: 'ada' } };
const named: MerchantEvent = { type: 'ProfileSet', data: { digest: 'd'.repeat(64), changed: ['name'] } };
const rotated: MerchantEvent = { type: 'WebhookSecretRotated', data: { ...secret, rotatedAt: now } };
const urlSet: MerchantEvent = { type: 'WebhookUrlSet', data: { url } };
const settled: MerchantEvent = { type: 'SettlementWalletSet', data: wallet };
const issued: MerchantEvent = { type: 'ApiKeyIssued', data: key };
const revoked: MerchantEvent = { type: 'ApiKeyRevoked', data: { keyId: key.keyId } };

describe('merchant', () => {
  describe('registration', () => {
    it('begins with webhook URL and secret', () =>
      given([])
        .when((state) => register(state, newApp))
        .then([registered, urlSet, rotated]));

    it('may leave the webhook URL for later', () =>
      given([])
        .when((state) => register(state, { ...newApp, webhookUrl: null }))
        .then([registered, rotated]));

    it('happens once: salt and secret of the first stay', () =>
      given([registered])
        .when((state) => register(state, { ...newApp, idSalt: 'cd'.repeat(32) }))
        .thenNothing());

    it('may bring owner, wallet and name with it', () =>
      given([])
        .when((state) =>
          register(state, { ...newApp, developerId: 'ada', settlement: wallet, profile: 'd'.repeat(64) }),
        )
        .then([ofAda, urlSet, rotated, settled, named]));

    it('is refused for an app of somebody else’s, and done for one’s own', () => {
      given([ofAda])
        .when((state) => register(state, { ...newApp, developerId: 'ada' }))
        .thenNothing();
      for (const theirs of [ofAda, registered])
        given([theirs])
          .when((state) => register(state, { ...newApp, developerId: 'eve' }))
          .thenRefused('appIdTaken', /taken/);
    });

    it('gives the app to another owner when the operator says so', () => {
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

    it('comes before everything else', () => {
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

  describe('a change of the settlement wallet', () => {
    const other = { ...wallet, receiverAddress: '0x00000000000000000000000000000000000000bb' };
    const third = { ...wallet, receiverAddress: '0x00000000000000000000000000000000000000cc' };
    const coolDown_ms = 48 * hour_ms;
    const due = plus(now, coolDown_ms);
    const ask =
      (to: SettlementWallet, at = now, changeId = 'change-1') =>
      (state: MerchantState) =>
        requestSettlement(state, { changeId, wallet: to, now: at, coolDown_ms });
    const requested: MerchantEvent = {
      type: 'SettlementChangeRequested',
      data: { changeId: 'change-1', wallet: other, effectiveAt: due },
    };
    const cancelled: MerchantEvent = { type: 'SettlementChangeCancelled', data: { changeId: 'change-1' } };
    const stateAfter = (...events: MerchantEvent[]) => fold(merchant, events);

    it('waits, but for the first wallet', () => {
      given([registered]).when(ask(wallet)).then([settled]);
      given([registered, settled]).when(ask(other)).then([requested]);
      given([registered, settled, requested])
        .when(ask(other, now, 'change-2'))
        .thenNothing();
    });

    it('is in force by time alone', () => {
      const state = stateAfter(registered, settled, requested);
      assert.deepEqual(settlementAt(state, plus(due, -1)), wallet);
      assert.equal(pendingChange(state, plus(due, -1))?.changeId, 'change-1');
      assert.deepEqual(settlementAt(state, due), other);
      assert.equal(pendingChange(state, due), null);
    });

    it('is called off while it waits, by its owner’s word or by asking for the wallet in force', () => {
      const past = [registered, settled, requested];
      given(past)
        .when((state) => cancelSettlement(state, plus(due, -1)))
        .then([cancelled]);
      given(past)
        .when(ask(wallet, now, 'change-2'))
        .then([cancelled]);
      assert.deepEqual(settlementAt(stateAfter(...past, cancelled), due), wallet);
    });

    it('is not called off once it is in force, or when there is none', () => {
      given([registered, settled, requested])
        .when((state) => cancelSettlement(state, due))
        .thenRefused('conflict');
      given([registered, settled])
        .when((state) => cancelSettlement(state, now))
        .thenRefused('conflict');
    });

    it('takes the place of one that waits, with its own time', () => {
      const at = plus(due, -1);
      const next: MerchantEvent = {
        type: 'SettlementChangeRequested',
        data: { changeId: 'change-2', wallet: third, effectiveAt: plus(at, coolDown_ms) },
      };
      given([registered, settled, requested])
        .when(ask(third, at, 'change-2'))
        .then([cancelled, next]);
      const state = stateAfter(registered, settled, requested, cancelled, next);
      assert.deepEqual(settlementAt(state, due), wallet);
      assert.deepEqual(settlementAt(state, plus(at, coolDown_ms)), third);
    });

    it('follows one that is in force', () => {
      const next: MerchantEvent = {
        type: 'SettlementChangeRequested',
        data: { changeId: 'change-2', wallet: third, effectiveAt: plus(due, coolDown_ms) },
      };
      given([registered, settled, requested])
        .when(ask(third, due, 'change-2'))
        .then([next]);
      assert.deepEqual(settlementAt(stateAfter(registered, settled, requested, next), due), other);
    });

    it('is overruled by the operator, at once', () => {
      const set: MerchantEvent = { type: 'SettlementWalletSet', data: third };
      given([registered, settled, requested])
        .when((state) => setSettlement(state, third))
        .then([set]);
      assert.deepEqual(settlementAt(stateAfter(registered, settled, requested, set), due), third);
      given([registered, settled, requested])
        .when((state) => setSettlement(state, wallet))
        .then([settled]);
    });

    it('needs a wallet that is fit, and an app', () => {
      given([registered, settled])
        .when(ask({ ...other, receiverMemo: '7' }))
        .thenRefused('invalidRequest', /carry no memo/);
      given([]).when(ask(wallet)).thenRefused('illegalStep');
    });
  });

  describe('profile', () => {
    const read = (change: ProfileChange) => readProfileChange(change);
    const problem = (change: ProfileChange) => {
      const refusal = read(change);
      return isRefusal(refusal) ? refusal.pointer : assert.fail(`${JSON.stringify(change)} is taken`);
    };

    it('keeps what is fit, in one spelling', () => {
      assert.deepEqual(
        read({
          name: '  Bäckerei & Söhne 🥐 ',
          supportContact: 'help@bakery.example',
          returnUrlTemplate: 'HTTPS://Bakery.example/thanks/{orderId}?p={paymentId}&s={status}',
          colour: '#AABBCC',
        }),
        {
          name: 'Bäckerei & Söhne 🥐',
          supportContact: 'help@bakery.example',
          returnUrlTemplate: 'https://bakery.example/thanks/{orderId}?p={paymentId}&s={status}',
          colour: '#aabbcc',
        },
      );
      assert.deepEqual(read({ supportContact: 'https://bakery.example/help#form', colour: null }), {
        supportContact: 'https://bakery.example/help#form',
        colour: null,
      });
    });

    for (const name of ['', '   ', 'x'.repeat(81), 'a\nb', 'a\u0000', 'a\u202egnp', 'a\u200b', '\ud800'])
      it(`has no name like ${JSON.stringify(name.slice(0, 10))}`, () => assert.equal(problem({ name }), '/name'));

    for (const supportContact of [
      'help',
      'a b@c.example',
      'javascript:alert(1)',
      'http://a.example',
      'a@b',
      '<a@b.ex>',
    ])
      it(`has no contact like ${supportContact}`, () => assert.equal(problem({ supportContact }), '/supportContact'));

    for (const returnUrlTemplate of [
      'http://bakery.example/{orderId}',
      'https://{orderId}/',
      'https://{orderId}.bakery.example/',
      'https://bakery.example:{orderId}/',
      'https://bakery.example@{orderId}/',
      'https://user:pass@bakery.example/',
      'https://bakery.example/{secret}',
      'https://bakery.example/{{orderId}}',
      'https://bakery.example/}',
      'javascript:alert("{orderId}")',
      `https://bakery.example/${'x'.repeat(2_048)}`,
    ])
      it(`returns no buyer to ${returnUrlTemplate.slice(0, 40)}`, () =>
        assert.equal(problem({ returnUrlTemplate }), '/returnUrlTemplate'));

    for (const colour of ['red', '#abc', '#12345g', 'url(x)', '#1234567'])
      it(`has no colour like ${colour}`, () => assert.equal(problem({ colour }), '/colour'));

    it('is set as a whole, on the one that it was made from', () => {
      const next = { digest: 'e'.repeat(64), changed: changedFields(noProfile, { ...noProfile, colour: '#aabbcc' }) };
      given([registered, named])
        .when((state) => setProfile(state, next, 'd'.repeat(64)))
        .then([{ type: 'ProfileSet', data: { digest: 'e'.repeat(64), changed: ['colour'] } }]);
      given([registered, named])
        .when((state) => setProfile(state, next, null))
        .thenRefused('conflict', /same time/);
    });
  });

  it('is changed 10,000 times at most; what protects it is always possible', () => {
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

    it('expire when they are told to, in the future only', () => {
      given([registered])
        .when((state) => issueKey(state, { ...key, expiresAt: now }, now))
        .thenRefused('invalidRequest', /future/);
      given([registered])
        .when((state) => issueKey(state, { ...key, expiresAt: later }, now))
        .then([{ type: 'ApiKeyIssued', data: { ...key, expiresAt: later } }]);
    });

    it('cannot be revoked when they never were', () =>
      given([registered])
        .when((state) => revokeKey(state, 'key-9'))
        .thenRefused('notFound', /no key/));

    it('are at most 50 at a time; a revoked or expired one makes room', () => {
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
