import assert from 'node:assert/strict';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { holdAll } from '../../domain/payment/amountPolicy.ts';
import { findApiKey, findApp } from '../../queries/apps.ts';
import { append } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

describe('apps and keys', () => {
  const given = givenReadModels();

  const appId = 'merchant_shop';
  const hash = 'ab'.repeat(32);
  const happen = async (...events: MerchantEvent[]) => {
    await append(given.world, `merchant-${appId}`, events);
    await given.project();
  };
  const registered: MerchantEvent = {
    type: 'MerchantRegistered',
    data: { appId, developerId: 'ada', idSalt: 'cd'.repeat(32), registeredAt: p.created_at },
  };
  const issued: MerchantEvent = {
    type: 'ApiKeyIssued',
    data: { keyId: 'k1', scope: 'admin', hash, hint: 'pi_live_…1234', name: 'till', expiresAt: null },
  };

  it('are found as their last events left them', async () => {
    await happen(registered);
    const settled = { receiverAddress: p.merchantWallet, receiverMemo: null };
    const fee = {
      sourceChainId: 1,
      destinationChainId: null,
      fixed_microUsd: '0',
      basisPoints: 5,
      belowCost: false,
    } as const;
    const secret = { ciphertext: 'sealed', fingerprint: `sha256:${hash}` };
    await happen(
      { type: 'WebhookUrlSet', data: { url: 'https://shop.example' } },
      { type: 'WebhookTypesSet', data: { types: ['payment_later'] } },
      { type: 'SettlementWalletSet', data: { ...settled, chainId: 1, token: p.ethereumUsdc.token } },
      { type: 'WebhookSecretRotated', data: { ...secret, rotatedAt: p.minute(1) } },
      { type: 'KeylessCreationSet', data: { allowed: false } },
      { type: 'PayFromSet', data: { payFrom: [{ chainId: 501, tokenSymbol: 'USDC' }] } },
      { type: 'PolicySet', data: { ...holdAll, over: 'refund' } },
      { type: 'FeesSet', data: { fees: [fee] } },
    );
    assert.deepEqual(await findApp(given.database, appId, p.minute(1)), {
      appId,
      developerId: 'ada',
      idSalt: 'cd'.repeat(32),
      webhookUrl: 'https://shop.example',
      webhookTypes: ['payment_later'],
      webhookEndpoints: [],
      settlement: { ...settled, chainId: 1, tokenSymbol: 'USDC' },
      keylessAllowed: false,
      payFrom: [{ chainId: 501, tokenSymbol: 'USDC' }],
      policy: { ...holdAll, over: 'refund' },
      fees: [fee],
    });
    assert.equal(await findApp(given.database, 'wallet_none', p.minute(1)), null);
  });

  it('let a key in until it is revoked', async () => {
    await happen(registered, issued);
    assert.deepEqual(await findApiKey(given.database, hash), { keyId: 'k1', appId, scope: 'admin', expiresAt: null });
    await happen({ type: 'ApiKeyRevoked', data: { keyId: 'k1' } });
    assert.equal(await findApiKey(given.database, hash), null);
    assert.equal(await findApiKey(given.database, 'ef'.repeat(32)), null);
  });
});
