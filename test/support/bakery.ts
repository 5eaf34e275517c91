import type { NewApp } from '../../domain/merchant/app.ts';
import type { IssuedKey, MerchantEvent, SettlementWallet } from '../../domain/merchant/events.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { hour_ms, instant } from '../../domain/time.ts';
import { specification } from './specification.ts';

export const { given } = specification(merchant);

export const now = instant(0);
export const later = instant(hour_ms);
export const registration = { appId: 'merchant_bakery', developerId: null, idSalt: 'ab'.repeat(32), registeredAt: now };
export const secret = { ciphertext: 'v1.key.sealed', fingerprint: `sha256:${'1'.repeat(64)}` };
export const url = 'https://bakery.example/webhooks';
export const wallet: SettlementWallet = {
  chainId: 8453,
  token: { symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 },
  receiverAddress: '0x00000000000000000000000000000000000000aa',
  receiverMemo: null,
};
export const key: IssuedKey = {
  keyId: 'key-1',
  scope: 'orders',
  hash: 'c'.repeat(64),
  hint: 'pi_live_…abcd',
  name: 'till',
  expiresAt: null,
};

export const newApp: NewApp = {
  appId: registration.appId,
  developerId: null,
  idSalt: registration.idSalt,
  webhookUrl: url,
  secret,
  settlement: null,
  profile: null,
  now,
};

export const registered: MerchantEvent = { type: 'MerchantRegistered', data: registration };
export const registeredWallet: MerchantEvent = {
  type: 'MerchantRegistered',
  data: { ...registration, appId: 'wallet_bakery' },
};
export const ofAda: MerchantEvent = { type: 'MerchantRegistered', data: { ...registration, developerId: 'ada' } };
export const named: MerchantEvent = { type: 'ProfileSet', data: { digest: 'd'.repeat(64), changed: ['name'] } };
export const rotated: MerchantEvent = { type: 'WebhookSecretRotated', data: { ...secret, rotatedAt: now } };
export const urlSet: MerchantEvent = { type: 'WebhookUrlSet', data: { url } };
export const settled: MerchantEvent = { type: 'SettlementWalletSet', data: wallet };
export const issued: MerchantEvent = { type: 'ApiKeyIssued', data: key };
export const revoked: MerchantEvent = { type: 'ApiKeyRevoked', data: { keyId: key.keyId } };
