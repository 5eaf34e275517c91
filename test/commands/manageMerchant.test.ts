import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle } from '../../commands/handle.ts';
import { createManageMerchant } from '../../commands/manageMerchant.ts';
import { endpointSecretContext, fingerprintOf, webhookSecretContext } from '../../commands/merchantRegistration.ts';
import { type ReceiverChecks, Unavailable } from '../../commands/ports.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { hour_ms } from '../../domain/time.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { newApiKey, parseKey } from '../../src/security/apiKey.ts';
import { createSecretBox } from '../../src/security/masterKey.ts';
import { createTargetCheck } from '../../src/security/publicAddress.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { memoryProfiles } from '../support/profiles.ts';

const appId = 'merchant_bakery';
const by = { cause: 'operator:test' } as const;
const url = 'https://bakery.example/hooks';
const address = '0x00000000000000000000000000000000000000aa';

function world(canReceive: ReceiverChecks = {}) {
  const store = memoryEventStore();
  const box = createSecretBox(randomBytes(32));
  const told: string[] = [];
  const merchants = createManageMerchant({
    handle: createHandle({ store, clock: systemClock, ids: randomIds, codec: eventCodec }),
    clock: systemClock,
    ids: randomIds,
    newKey: newApiKey,
    revokedKeys: { add: async ({ keyId }) => void told.push(keyId), unconfirmed: async () => [] },
    seal: box.seal,
    canonicalAddress: (_chain, text) => (/^0x[0-9a-f]{40}$/i.test(text) ? text.toLowerCase() : undefined),
    canReceive,
    offers: ({ id }) => id !== 501,
    ...memoryProfiles(),
    settlementCoolDown_ms: 48 * hour_ms,
    localSites: false,
    isAllowedTarget: createTargetCheck([]),
  });
  const events = () => store.read(`merchant-${appId}`);
  return { store, box, merchants, events, told };
}

function accepted<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) assert.fail(answer.message);
  return answer;
}

const refusedWith = (answer: unknown) => (isRefusal(answer) ? [answer.refused, answer.pointer] : answer);

describe('manage merchant', () => {
  describe('webhook endpoints', () => {
    const asked = { url: 'https://books.example/paid', types: ['payment_payout_completed'] };

    it('have a secret of their own, returned once and sealed for this endpoint alone', async () => {
      const { merchants, events, box } = world();
      accepted(await merchants.register(appId, { webhookUrl: url }, by));
      const made = accepted(await merchants.addEndpoint(appId, asked, by));
      assert.match(made.secret, /^[0-9a-f]{64}$/);
      assert.equal(made.secretFingerprint, fingerprintOf(made.secret));
      const rotated = accepted(await merchants.rotateEndpointSecret(appId, made.endpointId, by));
      assert.notEqual(rotated.secret, made.secret);
      const stored = JSON.stringify((await events()).map(({ data }) => data));
      for (const { secret } of [made, rotated]) assert.ok(!stored.includes(secret));
      const last = (await events()).at(-1) ?? assert.fail('no event');
      const { ciphertext } = last.data as { ciphertext: string };
      assert.equal(box.open(ciphertext, endpointSecretContext(appId, made.endpointId)), rotated.secret);
      for (const context of [webhookSecretContext(appId), endpointSecretContext(appId, 'other')])
        assert.throws(() => box.open(ciphertext, context), 'moved to another place, it cannot be opened');
    });

    it('cannot be on the own machine or network', async () => {
      const { merchants, events } = world();
      accepted(await merchants.register(appId, {}, by));
      const before = await events();
      for (const host of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '[::1]', '[::ffff:10.0.0.1]', 'localhost']) {
        const answer = await merchants.addEndpoint(appId, { ...asked, url: `https://${host}/` }, by);
        assert.deepEqual(refusedWith(answer), ['invalidRequest', '/url'], host);
      }
      assert.deepEqual(await events(), before);
    });

    it('are unknown to another app, which changes none', async () => {
      const { merchants, events } = world();
      accepted(await merchants.register(appId, {}, by));
      accepted(await merchants.register('merchant_other', {}, by));
      const { endpointId } = accepted(await merchants.addEndpoint(appId, asked, by));
      const before = await events();
      for (const answer of [
        await merchants.setEndpointTypes('merchant_other', endpointId, ['payment_held'], by),
        await merchants.rotateEndpointSecret('merchant_other', endpointId, by),
        await merchants.removeEndpoint('merchant_other', endpointId, by),
      ])
        assert.deepEqual(refusedWith(answer), ['notFound', '/id']);
      assert.deepEqual(await events(), before);
      accepted(await merchants.removeEndpoint(appId, endpointId, by));
    });
  });

  it('registers in one append and shows the webhook secret once', async () => {
    const { merchants, events, box } = world();
    const first = accepted(await merchants.register(appId, { webhookUrl: url }, by));
    assert.match(first.webhookSecret ?? '', /^[0-9a-f]{64}$/);
    assert.equal(
      first.webhookSecretFingerprint,
      `sha256:${createHash('sha256')
        .update(Buffer.from(first.webhookSecret ?? '', 'utf8'))
        .digest('hex')}`,
    );
    const stored = await events();
    assert.deepEqual(
      stored.map((event) => event.type),
      ['MerchantRegistered', 'WebhookUrlSet', 'WebhookSecretRotated'],
    );
    assert(stored.every((event) => event.metadata.appId === appId && event.metadata.cause === by.cause));
    const { ciphertext } = stored.at(-1)!.data as { ciphertext: string };
    assert.equal(box.open(ciphertext, webhookSecretContext(appId)), first.webhookSecret);
    assert.throws(() => box.open(ciphertext, webhookSecretContext('merchant_other')));

    const again = accepted(await merchants.register(appId, {}, by));
    assert.deepEqual(again, {
      position: null,
      created: false,
      webhookUrl: url,
      webhookSecret: null,
      webhookSecretFingerprint: first.webhookSecretFingerprint,
      webhookSecretRotatedAt: first.webhookSecretRotatedAt,
    });
  });

  it('never stores a secret or a key in the clear', async () => {
    const { merchants, events } = world();
    const { webhookSecret } = accepted(await merchants.register(appId, { webhookUrl: url }, by));
    const rotated = accepted(await merchants.rotateSecret(appId, by));
    const { key } = accepted(await merchants.issueKey(appId, { scope: 'admin', name: 'till', expiresAt: null }, by));
    const text = JSON.stringify(await events(), (_, value) => (typeof value === 'bigint' ? value.toString() : value));
    for (const secret of [webhookSecret ?? '', rotated.webhookSecret, key]) assert(!text.includes(secret));
  });

  it('rotates the secret: another one, fingerprint to match', async () => {
    const { merchants } = world();
    const { webhookSecret } = accepted(await merchants.register(appId, { webhookUrl: url }, by));
    const rotated = accepted(await merchants.rotateSecret(appId, by));
    assert.notEqual(rotated.webhookSecret, webhookSecret);
    assert.equal(rotated.webhookSecretFingerprint, fingerprintOf(rotated.webhookSecret));
    assert.equal(typeof rotated.position, 'bigint');
  });

  it('issues a key that is found by its hash, and revokes it', async () => {
    const { merchants, events, told } = world();
    await merchants.register(appId, { webhookUrl: url }, by);
    const issued = accepted(await merchants.issueKey(appId, { scope: 'orders', name: 'till', expiresAt: null }, by));
    const data = (await events()).at(-1)?.data as { hash: string; hint: string };
    assert.equal(data.hash, parseKey(issued.key));
    assert.equal(data.hint, issued.hint);
    accepted(await merchants.revokeKey(appId, issued.keyId, by));
    assert.deepEqual((await events()).at(-1)?.data, { keyId: issued.keyId });
    assert.deepEqual(told, [issued.keyId]);
  });

  it('spells the settlement address like the chain, and finds the token in the catalogue', async () => {
    const { merchants, events } = world();
    await merchants.register(appId, { webhookUrl: url }, by);
    const wallet = {
      chainId: 56,
      tokenSymbol: 'USDT',
      receiverAddress: address.toUpperCase().replace('X', 'x'),
    } as const;
    accepted(await merchants.setSettlement(appId, wallet, by));
    assert.deepEqual((await events()).at(-1)?.data, {
      chainId: 56,
      token: { symbol: 'USDT', address: '0x55d398326f99059fF775485246999027B3197955', decimals: 18 },
      receiverAddress: address,
      receiverMemo: null,
    });
  });

  it('queries the chain whether a wallet can receive the token, where wallets may not', async () => {
    const asked: string[] = [];
    const { merchants, events } = world({
      evm: async (chain, token, receiver) => {
        asked.push(`${chain.id} ${token.symbol} ${receiver}`);
        if (asked.length === 1) throw new Unavailable('no answer');
        return asked.length === 2 ? refuse('invalidRequest', 'it has no trustline') : undefined;
      },
    });
    await merchants.register(appId, { webhookUrl: url }, by);
    const wallet = { chainId: 56, tokenSymbol: 'USDT', receiverAddress: address } as const;
    const settle = () => merchants.setSettlement(appId, wallet, by);
    assert.deepEqual(refusedWith(await settle()), ['unavailable', undefined]);
    assert.deepEqual(refusedWith(await settle()), ['invalidRequest', '/receiverAddress']);
    assert.notEqual((await events()).at(-1)?.type, 'SettlementWalletSet');
    accepted(await settle());
    assert.equal((await events()).at(-1)?.type, 'SettlementWalletSet');
    assert.deepEqual(asked, Array(3).fill(`56 USDT ${address}`));
  });

  it('refuses with the field at fault', async () => {
    const { merchants } = world();
    await merchants.register(appId, { webhookUrl: url }, by);
    const settle = (more: object) =>
      merchants.setSettlement(appId, { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: address, ...more }, by);
    assert.deepEqual(refusedWith(await settle({ tokenSymbol: 'USDT' })), ['invalidRequest', '/tokenSymbol']);
    assert.deepEqual(refusedWith(await settle({ receiverAddress: 'bakery' })), ['invalidRequest', '/receiverAddress']);
    for (const target of [
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://2130706433/',
      ' https://127.0.0.1/',
      'HTTPS://127.1/',
      'http://bakery.example/',
      'bakery',
    ]) {
      assert.deepEqual(refusedWith(await merchants.setWebhookUrl(appId, target, by)), [
        'invalidRequest',
        '/webhookUrl',
      ]);
      const other = await merchants.register('merchant_other', { webhookUrl: target }, by);
      assert.deepEqual(refusedWith(other), ['invalidRequest', '/webhookUrl']);
    }
    assert.deepEqual(refusedWith(await merchants.rotateSecret('merchant_unknown', by)), ['illegalStep', undefined]);
    assert.deepEqual(refusedWith(await merchants.setKeylessCreation(appId, true, by)), ['forbidden', undefined]);
  });
});
