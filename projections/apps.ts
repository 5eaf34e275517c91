import { instanceOf } from '../domain/decider.ts';
import type { IssuedKey } from '../domain/merchant/events.ts';
import { ofEvents, ofStates, type Seen, upsert } from './projection.ts';

/** Each app's current settings; of its wallets the one in force and the one to come: time alone picks. */
export const apps = ofStates('apps', 'merchant', ({ after }) => {
  const { registration, settlement, settlementChange: next, webhookSecret } = after;
  if (!registration) return [];
  return [
    upsert('apps', {
      app_id: registration.appId,
      id_salt: registration.idSalt,
      developer_id: after.developerId,
      registered_at: registration.registeredAt,
      profile_digest: after.profile,
      webhook_url: after.webhookUrl,
      webhook_secret_fingerprint: webhookSecret?.fingerprint,
      webhook_secret_rotated_at: webhookSecret?.rotatedAt,
      settlement_chain_id: settlement?.chainId,
      settlement_token_symbol: settlement?.token.symbol,
      settlement_token_address: settlement?.token.address,
      settlement_address: settlement?.receiverAddress,
      settlement_memo: settlement?.receiverMemo,
      next_change_id: next?.changeId,
      next_chain_id: next?.wallet.chainId,
      next_token_symbol: next?.wallet.token.symbol,
      next_token_address: next?.wallet.token.address,
      next_address: next?.wallet.receiverAddress,
      next_memo: next?.wallet.receiverMemo,
      next_effective_at: next?.effectiveAt,
      keyless_creation: after.keylessCreation,
      embedding_sites: after.embeddingSites,
      pay_from: after.payFrom,
      policy: after.policy,
      fees: after.fees,
    }),
  ];
});

/** Which app a key belongs to and what it may do, by its hash. Revoked keys stay, marked. */
export const apiKeys = ofEvents('apiKeys', (seen) => {
  if (seen.category !== 'merchant') return [];
  const { event, after, stored } = seen;
  if (event.type !== 'ApiKeyIssued' && event.type !== 'ApiKeyRenamed' && event.type !== 'ApiKeyRevoked') return [];
  const changed = after.keys.filter(({ keyId }) => keyId === event.data.keyId);
  return changed.map((key) => keyRow(seen, key, event.type === 'ApiKeyRevoked' ? stored.metadata.at : null));
});

const keyRow = (
  { stored }: Seen<'merchant'>,
  { keyId, hash, scope, hint, name, expiresAt }: IssuedKey,
  revoked_at: string | null,
) =>
  upsert('api_keys', {
    key_id: keyId,
    hash,
    app_id: instanceOf(stored.stream),
    scope,
    hint,
    name,
    expires_at: expiresAt,
    revoked_at,
  });
