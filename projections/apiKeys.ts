import { instanceOf } from '../domain/event.ts';
import type { IssuedKey } from '../domain/merchant.ts';
import { ofEvents, type SeenMerchant, upsert } from './projection.ts';

/** Who a key belongs to and what it may do, by its hash. Revoked keys stay, marked. */
export const apiKeys = ofEvents('apiKeys', (seen) => {
  if (seen.category !== 'merchant') return [];
  const { event, after, stored } = seen;
  if (event.type === 'ApiKeyIssued') return [keyRow(seen, event.data, null)];
  if (event.type !== 'ApiKeyRevoked') return [];
  const revoked = after.keys.filter(({ keyId }) => keyId === event.data.keyId);
  return revoked.map((key) => keyRow(seen, key, stored.metadata.at));
});

const keyRow = ({ stored }: SeenMerchant, { keyId, hash, scope, hint, name }: IssuedKey, revoked_at: string | null) =>
  upsert('api_keys', { key_id: keyId, hash, app_id: instanceOf(stored.stream), scope, hint, name, revoked_at });
