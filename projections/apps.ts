import { instanceOf } from '../domain/decider.ts';
import type { IssuedKey } from '../domain/merchant.ts';
import { ofEvents, ofStates, type Seen, upsert } from './projection.ts';

/** Each app's current settings. */
export const apps = ofStates('apps', 'merchant', ({ after }) => {
  const { registration, settlement, webhookUrl, webhookSecret, keylessCreation } = after;
  if (!registration) return [];
  return [
    upsert('apps', {
      app_id: registration.appId,
      id_salt: registration.idSalt,
      registered_at: registration.registeredAt,
      webhook_url: webhookUrl,
      webhook_secret_ciphertext: webhookSecret?.ciphertext,
      webhook_secret_fingerprint: webhookSecret?.fingerprint,
      settlement_chain_id: settlement?.chainId,
      settlement_token_symbol: settlement?.token.symbol,
      settlement_token_address: settlement?.token.address,
      settlement_address: settlement?.receiverAddress,
      settlement_memo: settlement?.receiverMemo,
      keyless_creation: keylessCreation,
    }),
  ];
});

/** Which app a key belongs to and what it may do, by its hash. Revoked keys stay, marked. */
export const apiKeys = ofEvents('apiKeys', (seen) => {
  if (seen.category !== 'merchant') return [];
  const { event, after, stored } = seen;
  if (event.type === 'ApiKeyIssued') return [keyRow(seen, event.data, null)];
  if (event.type !== 'ApiKeyRevoked') return [];
  const revoked = after.keys.filter(({ keyId }) => keyId === event.data.keyId);
  return revoked.map((key) => keyRow(seen, key, stored.metadata.at));
});

const keyRow = (
  { stored }: Seen<'merchant'>,
  { keyId, hash, scope, hint, name }: IssuedKey,
  revoked_at: string | null,
) => upsert('api_keys', { key_id: keyId, hash, app_id: instanceOf(stored.stream), scope, hint, name, revoked_at });
