import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, readStream } from '../../commands/handle.ts';
import type { Cause } from '../../domain/decider.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { listChanges, listKeys } from '../../queries/merchantAudit.ts';
import { randomIds } from '../../src/process/system.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import * as p from '../support/payments.ts';

const appId = 'merchant_shop';
const [salt, hash, fingerprint] = ['aa'.repeat(32), 'bb'.repeat(32), `sha256:${'cc'.repeat(32)}`];
const till = { keyId: 'k1', scope: 'orders', hash, hint: 'pi_live_…1234', name: 'till', expiresAt: null } as const;
const wallet = { chainId: 1, token: p.ethereumUsdc.token, receiverAddress: '0xShop', receiverMemo: null } as const;

const story: readonly (readonly [Cause, MerchantEvent])[] = [
  [
    'operator:ada',
    { type: 'MerchantRegistered', data: { appId, developerId: null, idSalt: salt, registeredAt: p.minute(0) } },
  ],
  ['operator:ada', { type: 'WebhookUrlSet', data: { url: 'https://shop.example/hooks?token=t0p' } }],
  [
    'operator:ada',
    { type: 'WebhookSecretRotated', data: { ciphertext: 'v1.sealed', fingerprint, rotatedAt: p.minute(2) } },
  ],
  ['operator:ada', { type: 'ApiKeyIssued', data: till }],
  ['operator:ada', { type: 'ApiKeyIssued', data: { ...till, keyId: 'k2', scope: 'admin', name: 'office' } }],
  ['operator:bob', { type: 'SettlementWalletSet', data: wallet }],
  ['operator:bob', { type: 'ApiKeyRevoked', data: { keyId: 'k1' } }],
  ['operator:bob', { type: 'WebhookUrlSet', data: { url: null } }],
  ['operator:bob', { type: 'KeylessCreationSet', data: { allowed: false } }],
  ['operator:bob', { type: 'OwnerSet', data: { developerId: 'cleo' } }],
  ['developer:cleo', { type: 'ProfileSet', data: { digest: hash, changed: ['name', 'logo'] } }],
  [
    'developer:cleo',
    { type: 'SettlementChangeRequested', data: { changeId: 'c1', wallet, effectiveAt: p.minute(90) } },
  ],
  ['developer:cleo', { type: 'SettlementChangeCancelled', data: { changeId: 'c1' } }],
  ['developer:cleo', { type: 'ApiKeyRenamed', data: { keyId: 'k2', name: 'head office' } }],
  [
    'developer:cleo',
    { type: 'ApiKeyIssued', data: { ...till, keyId: 'k3', name: 'market stall', expiresAt: p.minute(600) } },
  ],
];

async function log() {
  let minutes = 0;
  const store = memoryEventStore();
  const clock = { now: () => p.minute(minutes), sleep: async () => {} };
  const handle = createHandle({ store, clock, ids: randomIds, codec: eventCodec });
  for (const [cause, event] of story) {
    await handle(merchant, appId, () => [event], { cause, appId });
    minutes += 1;
  }
  return { history: (stream: string) => readStream(store, stream), read: eventCodec.read };
}

describe('the audit trail of an app', () => {
  const key = (keyId: string, more: object) => ({
    keyId,
    scope: 'orders',
    hint: till.hint,
    createdBy: 'operator:ada',
    expiresAt: null,
    revokedAt: null,
    ...more,
  });

  it('lists its keys by their names, and when each was issued and revoked', async () => {
    assert.deepEqual(await listKeys(await log(), appId), [
      key('k1', { name: 'till', createdAt: p.minute(3), revokedAt: p.minute(6) }),
      key('k2', { name: 'head office', scope: 'admin', createdAt: p.minute(4) }),
      key('k3', {
        name: 'market stall',
        createdAt: p.minute(14),
        createdBy: 'developer:cleo',
        expiresAt: p.minute(600),
      }),
    ]);
  });

  it('states for each change its author, its time, and its content', async () => {
    const changes = (await listChanges(await log(), appId)) ?? [];
    assert.deepEqual(
      changes.map(({ revision, at, by }) => [revision, at, by]),
      story.map(([cause], index) => [index, p.minute(index), cause]),
    );
    assert.deepEqual(
      changes.map(({ what }) => what),
      [
        'registered the app',
        'set its webhook: https://shop.example/hooks?…',
        `made a new webhook secret, fingerprint ${fingerprint}`,
        'issued key "till" (orders, pi_live_…1234)',
        'issued key "office" (admin, pi_live_…1234)',
        'set its wallet: USDC on Ethereum to 0xShop',
        'revoked key "till" (pi_live_…1234)',
        'removed its webhook',
        'closed it for creation without a key',
        'set the owner',
        'changed what it shows of itself: name, logo',
        `asked for another wallet from ${p.minute(90)} on: USDC on Ethereum to 0xShop`,
        'called off the change of its wallet',
        'renamed key pi_live_…1234 to "head office"',
        `issued key "market stall" (orders, pi_live_…1234, until ${p.minute(600)})`,
      ],
    );
  });

  it('contains no secret, for any query', async () => {
    const text = JSON.stringify([await listKeys(await log(), appId), await listChanges(await log(), appId)]);
    for (const secret of [salt, hash, 'v1.sealed', 't0p']) assert.ok(!text.includes(secret));
  });

  it('is empty for an unknown app', async () => {
    assert.equal(await listKeys(await log(), 'merchant_none'), null);
    assert.equal(await listChanges(await log(), 'merchant_none'), null);
  });
});
