import { instanceOf } from '../domain/event.ts';
import type { IssuedKey } from '../domain/merchant.ts';
import { ofMerchants, type RowChange, type SeenMerchant, upsert } from './projection.ts';

/** Who a key belongs to and what it may do, by its hash. Revoked keys stay, marked. */
export const apiKeys = ofMerchants('apiKeys', (seen) => {
  const { event, after } = seen;
  if (event.type === 'ApiKeyIssued') return [keyRow(seen, event.data, null)];
  if (event.type !== 'ApiKeyRevoked') return [];
  const revoked = after.keys.filter(({ keyId }) => keyId === event.data.keyId);
  return revoked.map((key) => keyRow(seen, key, seen.stored.metadata.at));
});

function keyRow({ stored }: SeenMerchant, key: IssuedKey, revoked_at: string | null): RowChange {
  const { keyId, hash, scope, hint, name } = key;
  return upsert('api_keys', { key_id: keyId, hash, app_id: instanceOf(stored.stream), scope, hint, name, revoked_at });
}
