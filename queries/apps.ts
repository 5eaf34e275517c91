/** Apps: settings, profiles and pictures, owners, and the callers of their keys. */
import type { Logo } from '../commands/ports.ts';
import type { FeeTier, KeyScope, PayFrom, WebhookEndpoint } from '../domain/merchant/events.ts';
import { noProfile, type Profile } from '../domain/merchant/profile.ts';
import type { AmountPolicy } from '../domain/payment/amountPolicy.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';

/** An app's current settings. */
export interface App {
  readonly appId: string;
  /** Person who owns the app; null for an operator's app. */
  readonly developerId: string | null;
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  readonly webhookTypes?: readonly string[];
  /** Endpoints besides the webhook URL. */
  readonly webhookEndpoints?: readonly ShownEndpoint[];
  /** In force now. */
  readonly settlement: ShownWallet | null;
  readonly keylessAllowed: boolean;
  /** Sources that payers may choose. */
  readonly payFrom?: PayFrom;
  /** Policy for wrong amounts. */
  readonly policy?: AmountPolicy;
  /** The app's own fees. */
  readonly fees?: readonly FeeTier[];
}

/** An endpoint without its secret. */
export type ShownEndpoint = Omit<WebhookEndpoint, 'ciphertext'>;

export interface ShownWallet {
  readonly chainId: number;
  readonly tokenSymbol: string;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
}

/** Wallet columns of `apps`: the wallet in force, and a pending one with its time. */
export interface WalletColumns {
  readonly settlement_chain_id: number | null;
  readonly settlement_token_symbol: string;
  readonly settlement_address: string;
  readonly settlement_memo: string | null;
  readonly next_change_id: string;
  readonly next_chain_id: number;
  readonly next_token_symbol: string;
  readonly next_address: string;
  readonly next_memo: string | null;
  readonly next_effective_at: Instant | null;
}

export const walletColumns = `settlement_chain_id, settlement_token_symbol, settlement_address, settlement_memo,
  next_change_id, next_chain_id, next_token_symbol, next_address, next_memo, next_effective_at`;

export interface PendingWallet {
  readonly changeId: string;
  readonly wallet: ShownWallet;
  readonly effectiveAt: Instant;
}

/** The wallet in force, and the pending one. */
export function walletsAt(
  row: WalletColumns,
  now: Instant,
): { readonly settlement: ShownWallet | null; readonly pending: PendingWallet | null } {
  const settlement =
    row.settlement_chain_id === null
      ? null
      : {
          chainId: row.settlement_chain_id,
          tokenSymbol: row.settlement_token_symbol,
          receiverAddress: row.settlement_address,
          receiverMemo: row.settlement_memo,
        };
  if (row.next_effective_at === null) return { settlement, pending: null };
  const wallet = {
    chainId: row.next_chain_id,
    tokenSymbol: row.next_token_symbol,
    receiverAddress: row.next_address,
    receiverMemo: row.next_memo,
  };
  if (row.next_effective_at <= now) return { settlement: wallet, pending: null };
  return { settlement, pending: { changeId: row.next_change_id, wallet, effectiveAt: row.next_effective_at } };
}

interface Row extends WalletColumns {
  readonly app_id: string;
  readonly developer_id: string | null;
  readonly id_salt: string;
  readonly webhook_url: string | null;
  readonly webhook_types: readonly string[];
  readonly webhook_endpoints: readonly ShownEndpoint[];
  readonly keyless_creation: boolean;
  readonly pay_from: PayFrom;
  readonly policy: AmountPolicy;
  readonly fees: readonly FeeTier[];
}

/** Null for an app that is not registered (in the read model). @throws Unavailable */
export async function findApp(sql: Sql, appId: string, now: Instant): Promise<App | null> {
  const [row] = await sql.query<Row>(
    `SELECT app_id, developer_id, id_salt, webhook_url, webhook_types, webhook_endpoints, keyless_creation, pay_from, policy, fees, ${walletColumns}
       FROM apps WHERE app_id = $1`,
    [appId],
  );
  if (!row) return null;
  return {
    appId: row.app_id,
    developerId: row.developer_id,
    idSalt: row.id_salt,
    webhookUrl: row.webhook_url,
    webhookTypes: row.webhook_types,
    webhookEndpoints: row.webhook_endpoints,
    settlement: walletsAt(row, now).settlement,
    keylessAllowed: row.keyless_creation,
    payFrom: row.pay_from,
    policy: row.policy,
    fees: row.fees,
  };
}

/** Maximum listed apps of one person. */
export const ownedMax = 200;

/** Apps of the person $1, as owner or member. */
const appsOfPerson = `SELECT app_id FROM apps WHERE developer_id = $1
  UNION SELECT app_id FROM app_members WHERE developer_id = $1 AND invited_until IS NULL`;

/** Ids of the apps that a person owns or is a member of, in the order of creation. @throws Unavailable */
export async function appsOf(sql: Sql, developerId: string): Promise<readonly string[]> {
  const rows = await sql.query<{ app_id: string }>(
    `SELECT app_id FROM apps WHERE app_id IN (${appsOfPerson}) ORDER BY registered_at, app_id LIMIT $2`,
    [developerId, ownedMax],
  );
  return rows.map(({ app_id }) => app_id);
}

/** Salt of the payment ids of the app's orders; null for an app that is not registered. @throws Unavailable */
export async function findIdSalt(sql: Sql, appId: string): Promise<string | null> {
  const [row] = await sql.query<{ id_salt: string }>('SELECT id_salt FROM apps WHERE app_id = $1', [appId]);
  return row?.id_salt ?? null;
}

/**
 * Counts the app's payments that wait for money, all or only those created without a key, up to `max`.
 * @throws Unavailable
 */
export async function countOpen(sql: Sql, appId: string, kind: 'all' | 'keyless', max: number): Promise<number> {
  const [counted] = await sql.query<{ open: bigint }>(
    `SELECT count(*) AS open FROM (SELECT FROM payments
      WHERE app_id = $1 ${kind === 'keyless' ? 'AND keyless ' : ''}AND status IN ('payment_unpaid', 'payment_started') LIMIT $2) AS waiting`,
    [appId, max],
  );
  return Number(counted?.open ?? 0n);
}

export interface Caller {
  readonly keyId: string;
  readonly appId: string;
  readonly scope: KeyScope;
  /** The key is refused from then on; null for never. */
  readonly expiresAt: Instant | null;
}

/** App of a key, by the key's SHA-256 as hex; null for an unknown or revoked key. @throws Unavailable */
export async function findApiKey(sql: Sql, hash: string): Promise<Caller | null> {
  const [key] = await sql.query<Caller>(
    `SELECT key_id AS "keyId", app_id AS "appId", scope, expires_at AS "expiresAt"
       FROM api_keys WHERE hash = $1 AND revoked_at IS NULL`,
    [hash],
  );
  return key ?? null;
}

// An app as its owner and its payers see it.

export interface Settings {
  readonly appId: string;
  readonly registeredAt: Instant;
  readonly profile: Profile;
  /** In force now. */
  readonly settlement: ShownWallet | null;
  /** Pending wallet, in force from its time on unless cancelled. */
  readonly settlementChange: PendingWallet | null;
  readonly webhookUrl: string | null;
  /** Types of webhooks that the app chose besides the first two. */
  readonly webhookTypes: readonly string[];
  /** Endpoints besides the webhook URL, oldest first. */
  readonly webhookEndpoints: readonly ShownEndpoint[];
  readonly webhookSecretFingerprint: string | null;
  readonly webhookSecretRotatedAt: Instant | null;
  readonly keylessAllowed: boolean;
  /** Origins that may frame its payment pages. */
  readonly embeddingSites: readonly string[];
  /** Sources that payers may choose. */
  readonly payFrom: PayFrom;
  /** Policy for wrong amounts. */
  readonly policy: AmountPolicy;
  /** Fees by route, as agreed with the operator. */
  readonly fees: readonly FeeTier[];
}

/** An app in its owner's list. */
export interface OwnApp {
  readonly appId: string;
  readonly registeredAt: Instant;
  readonly name: string | null;
  /** Digest of its picture. */
  readonly logo: string | null;
}

interface SettingsRow extends WalletColumns {
  readonly app_id: string;
  readonly registered_at: Instant;
  readonly profile: Partial<Profile> | null;
  readonly webhook_url: string | null;
  readonly webhook_types: readonly string[];
  readonly webhook_endpoints: readonly ShownEndpoint[];
  readonly webhook_secret_fingerprint: string | null;
  readonly webhook_secret_rotated_at: Instant | null;
  readonly keyless_creation: boolean;
  readonly embedding_sites: readonly string[];
  readonly pay_from: PayFrom;
  readonly policy: AmountPolicy;
  readonly fees: readonly FeeTier[];
}

/** Null for an app that is not registered (in the read model). @throws Unavailable */
export async function getSettings(sql: Sql, appId: string, now: Instant): Promise<Settings | null> {
  const [row] = await sql.query<SettingsRow>(
    `SELECT a.app_id, registered_at, content AS profile, webhook_url, webhook_types, webhook_endpoints, webhook_secret_fingerprint,
            webhook_secret_rotated_at, keyless_creation, embedding_sites, pay_from, policy, fees, ${walletColumns}
       FROM apps a LEFT JOIN ops.profiles p ON p.digest = a.profile_digest WHERE a.app_id = $1`,
    [appId],
  );
  if (!row) return null;
  const { settlement, pending } = walletsAt(row, now);
  return {
    appId: row.app_id,
    registeredAt: row.registered_at,
    profile: profileOf(row.profile),
    settlement,
    settlementChange: pending,
    webhookUrl: row.webhook_url,
    webhookTypes: row.webhook_types,
    webhookEndpoints: row.webhook_endpoints,
    webhookSecretFingerprint: row.webhook_secret_fingerprint,
    webhookSecretRotatedAt: row.webhook_secret_rotated_at,
    keylessAllowed: row.keyless_creation,
    embeddingSites: row.embedding_sites,
    payFrom: row.pay_from,
    policy: row.policy,
    fees: row.fees,
  };
}

/** An app's profile for payers; all fields are null without one. @throws Unavailable */
export async function findProfile(sql: Sql, appId: string): Promise<Profile> {
  const [row] = await sql.query<{ profile: Partial<Profile> | null }>(
    'SELECT content AS profile FROM apps a LEFT JOIN ops.profiles p ON p.digest = a.profile_digest WHERE a.app_id = $1',
    [appId],
  );
  return profileOf(row?.profile ?? null);
}

/** Origins that may frame the app's payment pages; none for an app that is not registered. @throws Unavailable */
export async function embeddingSites(sql: Sql, appId: string): Promise<readonly string[]> {
  const [row] = await sql.query<Pick<SettingsRow, 'embedding_sites'>>(
    'SELECT embedding_sites FROM apps WHERE app_id = $1',
    [appId],
  );
  return row?.embedding_sites ?? [];
}

/** Removes the salt. A row of an older version may lack fields. */
export function profileOf(content: Partial<Profile> | null): Profile {
  const { name, supportContact, returnUrlTemplate, colour, logo } = { ...noProfile, ...content };
  return { name, supportContact, returnUrlTemplate, colour, logo };
}

/** A person's apps in the order of creation. @throws Unavailable */
export const listApps = (sql: Sql, developerId: string): Promise<readonly OwnApp[]> =>
  sql.query<OwnApp>(
    `SELECT a.app_id AS "appId", registered_at AS "registeredAt", content->>'name' AS name, content->>'logo' AS logo
       FROM apps a LEFT JOIN ops.profiles p ON p.digest = a.profile_digest
      WHERE a.app_id IN (${appsOfPerson}) ORDER BY registered_at, a.app_id LIMIT $2`,
    [developerId, ownedMax],
  );

/** A current or former picture of an app; null if unknown. @throws Unavailable */
export async function findLogo(sql: Sql, digest: string): Promise<Logo | null> {
  const [logo] = await sql.query<Logo>('SELECT digest, type, bytes FROM ops.logos WHERE digest = $1 LIMIT 1', [digest]);
  return logo ?? null;
}
