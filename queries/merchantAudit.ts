/** What an app's own stream tells of it: its keys, and who changed what. From the log, so that it is true while read models stand still. */
import type { MerchantEvent } from '../domain/merchant.ts';
import type { Instant } from '../domain/time.ts';
import type { GetPaymentDeps } from './getPayment.ts';

export type AuditDeps = Pick<GetPaymentDeps, 'history' | 'read'>;

export interface ListedKey {
  readonly keyId: string;
  readonly name: string;
  readonly scope: string;
  /** Prefix and last four characters. */
  readonly hint: string;
  readonly createdAt: Instant;
  /** Null while it works. */
  readonly revokedAt: Instant | null;
}

export interface Change {
  readonly at: Instant;
  /** The event's `cause`. */
  readonly by: string;
  /** For people. No secret is in it: none of an app, and no query of a URL, which may hold one. */
  readonly what: string;
}

type Recorded = MerchantEvent & { readonly at: Instant; readonly by: string };

/** All keys that the app ever had, oldest first; null for an app that is not registered. @throws Unavailable */
export async function listKeys(deps: AuditDeps, appId: string): Promise<readonly ListedKey[] | null> {
  const events = await recorded(deps, appId);
  const revoked = new Map(events.flatMap(({ type, data, at }) => (type === 'ApiKeyRevoked' ? [[data.keyId, at]] : [])));
  const keys = events.flatMap(({ type, data, at }) => {
    if (type !== 'ApiKeyIssued') return [];
    const { keyId, name, scope, hint } = data;
    return [{ keyId, name, scope, hint, createdAt: at, revokedAt: revoked.get(keyId) ?? null }];
  });
  return events.length === 0 ? null : keys;
}

/** Every change of the app's settings and keys, oldest first; null for an app that is not registered. @throws Unavailable */
export async function listChanges(deps: AuditDeps, appId: string): Promise<readonly Change[] | null> {
  const events = await recorded(deps, appId);
  const names = new Map(events.flatMap(({ type, data }) => (type === 'ApiKeyIssued' ? [[data.keyId, data.name]] : [])));
  const changes = events.map((event) => ({ at: event.at, by: event.by, what: textOf(event, names) }));
  return events.length === 0 ? null : changes;
}

async function recorded({ history, read }: AuditDeps, appId: string): Promise<readonly Recorded[]> {
  const events = await history(`merchant-${appId}`);
  return events.flatMap((stored) => {
    const event = read(stored) as MerchantEvent | undefined;
    return event ? [{ ...event, at: stored.metadata.at, by: stored.metadata.cause }] : [];
  });
}

function textOf(event: MerchantEvent, names: ReadonlyMap<string, string>): string {
  switch (event.type) {
    case 'MerchantRegistered':
      return 'registered the app';
    case 'SettlementWalletSet': {
      const { chainId, token, receiverAddress, receiverMemo } = event.data;
      const memo = receiverMemo === null ? '' : ` with memo ${receiverMemo}`;
      return `set its wallet: ${token.symbol} on chain ${chainId} to ${receiverAddress}${memo}`;
    }
    case 'WebhookUrlSet':
      return event.data.url === null ? 'removed its webhook' : `set its webhook: ${withoutQuery(event.data.url)}`;
    case 'WebhookSecretRotated':
      return `made a new webhook secret, fingerprint ${event.data.fingerprint}`;
    case 'KeylessCreationSet':
      return `${event.data.allowed ? 'opened' : 'closed'} it for creation without a key`;
    case 'ApiKeyIssued':
      return `issued key ${event.data.keyId} "${event.data.name}" (${event.data.scope}, ${event.data.hint})`;
    case 'ApiKeyRevoked':
      return `revoked key ${event.data.keyId} "${names.get(event.data.keyId)}"`;
  }
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '?…');
