/** What owners see of their apps: settings, profile, when keys were last used, pictures. */
import type { Logo } from '../commands/ports.ts';
import type { FeeTier, PayFrom } from '../domain/merchant/events.ts';
import { noProfile, type Profile } from '../domain/merchant/profile.ts';
import type { AmountPolicy } from '../domain/payment/amountPolicy.ts';
import type { Instant } from '../domain/time.ts';
import type { Sql } from '../projections/sql.ts';
import {
  ownedMax,
  type PendingWallet,
  type ShownWallet,
  type WalletColumns,
  walletColumns,
  walletsAt,
} from './apps.ts';
import type { ListedKey } from './merchantAudit.ts';
import { asStored } from './sql.ts';

export interface Settings {
  readonly appId: string;
  readonly registeredAt: Instant;
  readonly profile: Profile;
  /** In force now. */
  readonly settlement: ShownWallet | null;
  /** What replaces it at its time, unless it is cancelled. */
  readonly settlementChange: PendingWallet | null;
  readonly webhookUrl: string | null;
  readonly webhookSecretFingerprint: string | null;
  readonly webhookSecretRotatedAt: Instant | null;
  readonly keylessAllowed: boolean;
  /** Origins that may show its payment pages in a frame. */
  readonly embeddingSites: readonly string[];
  /** What payers may choose to pay from. */
  readonly payFrom: PayFrom;
  /** What happens with money that is not what was agreed. */
  readonly policy: AmountPolicy;
  /** Agreed with the operator, route by route. */
  readonly fees: readonly FeeTier[];
}

/** An app in the list of a person's own. */
export interface OwnApp {
  readonly appId: string;
  readonly registeredAt: Instant;
  readonly name: string | null;
  /** Digest of its picture. */
  readonly logo: string | null;
}

interface Row extends WalletColumns {
  readonly app_id: string;
  readonly registered_at: Instant;
  readonly profile: Partial<Profile> | null;
  readonly webhook_url: string | null;
  readonly webhook_secret_fingerprint: string | null;
  readonly webhook_secret_rotated_at: Instant | null;
  readonly keyless_creation: boolean;
  readonly embedding_sites: readonly string[];
  readonly pay_from: PayFrom;
  readonly policy: AmountPolicy;
  readonly fees: readonly FeeTier[];
}

/** Null for an app that is not registered (as far as is projected). @throws Unavailable */
export async function getSettings(sql: Sql, appId: string, now: Instant): Promise<Settings | null> {
  const [row] = await sql.query<Row>(
    `SELECT a.app_id, registered_at, content AS profile, webhook_url, webhook_secret_fingerprint,
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
    webhookSecretFingerprint: row.webhook_secret_fingerprint,
    webhookSecretRotatedAt: row.webhook_secret_rotated_at,
    keylessAllowed: row.keyless_creation,
    embeddingSites: row.embedding_sites,
    payFrom: row.pay_from,
    policy: row.policy,
    fees: row.fees,
  };
}

/** What an app shows of itself to those who pay; all unset for an app that shows nothing. @throws Unavailable */
export async function findProfile(sql: Sql, appId: string): Promise<Profile> {
  const [row] = await sql.query<{ profile: Partial<Profile> | null }>(
    'SELECT content AS profile FROM apps a LEFT JOIN ops.profiles p ON p.digest = a.profile_digest WHERE a.app_id = $1',
    [asStored(appId)],
  );
  return profileOf(row?.profile ?? null);
}

/** Origins that may show the app's payment pages in a frame; none for an app that is not registered. @throws Unavailable */
export async function embeddingSites(sql: Sql, appId: string): Promise<readonly string[]> {
  const [row] = await sql.query<Pick<Row, 'embedding_sites'>>('SELECT embedding_sites FROM apps WHERE app_id = $1', [
    asStored(appId),
  ]);
  return row?.embedding_sites ?? [];
}

/** Without what is kept beside it: the salt. A row of an older version may lack fields. */
export function profileOf(content: Partial<Profile> | null): Profile {
  const { name, supportContact, returnUrlTemplate, colour, logo } = { ...noProfile, ...content };
  return { name, supportContact, returnUrlTemplate, colour, logo };
}

/** A person's apps in the order in which they were made. @throws Unavailable */
export const listApps = (sql: Sql, developerId: string): Promise<readonly OwnApp[]> =>
  sql.query<OwnApp>(
    `SELECT a.app_id AS "appId", registered_at AS "registeredAt", content->>'name' AS name, content->>'logo' AS logo
       FROM apps a LEFT JOIN ops.profiles p ON p.digest = a.profile_digest
      WHERE developer_id = $1 ORDER BY registered_at, a.app_id LIMIT $2`,
    [developerId, ownedMax],
  );

export interface UsedKey extends ListedKey {
  /** To the hour; null for never. */
  readonly lastUsedAt: Instant | null;
}

/** @throws Unavailable */
export async function withLastUse(sql: Sql, keys: readonly ListedKey[]): Promise<readonly UsedKey[]> {
  const rows = await sql.query<{ key_id: string; hour: Instant }>(
    'SELECT key_id, hour FROM ops.key_uses WHERE key_id = ANY ($1)',
    [keys.map(({ keyId }) => keyId)],
  );
  const hours = new Map(rows.map(({ key_id, hour }) => [key_id, hour]));
  return keys.map((key) => ({ ...key, lastUsedAt: hours.get(key.keyId) ?? null }));
}

/** A picture that an app has or had; null when nobody has it. @throws Unavailable */
export async function findLogo(sql: Sql, digest: string): Promise<Logo | null> {
  const [logo] = await sql.query<Logo>('SELECT digest, type, bytes FROM ops.logos WHERE digest = $1 LIMIT 1', [digest]);
  return logo ?? null;
}
