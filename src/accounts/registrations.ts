/** Apps that wait for proof of their owner's e-mail. */
import type { SealedSecret, SettlementWallet } from '../../domain/merchant/events.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';

export interface Registration {
  readonly registrationId: string;
  readonly appId: string;
  readonly developerId: string;
  readonly displayName: string;
  readonly settlement: SettlementWallet | null;
  readonly webhookUrl: string | null;
  readonly secret: SealedSecret;
}

export interface KeptRegistration extends Registration {
  readonly requestedAt: Instant;
  readonly expiresAt: Instant;
}

/** Nobody has proved anything: longer, and strangers could hold the names of others. */
export const life_ms = hour_ms;

const columns = `registration_id AS "registrationId", app_id AS "appId", developer_id AS "developerId",
  display_name AS "displayName", settlement, webhook_url AS "webhookUrl",
  json_build_object('ciphertext', secret_ciphertext, 'fingerprint', secret_fingerprint) AS secret,
  requested_at AS "requestedAt", expires_at AS "expiresAt"`;

/** @returns false when the app's id waits for somebody's proof already */
export async function keepRegistration(sql: Sql, registration: Registration, now: Instant): Promise<boolean> {
  const { registrationId, appId, developerId, displayName, settlement, webhookUrl, secret } = registration;
  await sql.query('DELETE FROM ops.registrations WHERE app_id = $1 AND expires_at <= $2', [appId, now]);
  const kept = await sql.query(
    `INSERT INTO ops.registrations (app_id, registration_id, developer_id, display_name, settlement, webhook_url,
       secret_ciphertext, secret_fingerprint, requested_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (app_id) DO NOTHING RETURNING 1`,
    [
      appId,
      registrationId,
      developerId,
      displayName,
      settlement && JSON.stringify(settlement),
      webhookUrl,
      secret.ciphertext,
      secret.fingerprint,
      now,
      plus(now, life_ms),
    ],
  );
  return kept.length === 1;
}

export async function findRegistration(sql: Sql, registrationId: string, now: Instant): Promise<Registration | null> {
  const [found] = await sql.query<Registration>(
    `SELECT ${columns} FROM ops.registrations WHERE registration_id = $1 AND expires_at > $2`,
    [registrationId, now],
  );
  return found ?? null;
}

/** Oldest first. */
export const registrationsOf = (sql: Sql, developerId: string, now: Instant): Promise<readonly KeptRegistration[]> =>
  sql.query(
    `SELECT ${columns} FROM ops.registrations WHERE developer_id = $1 AND expires_at > $2 ORDER BY requested_at, app_id`,
    [developerId, now],
  );

/** With the codes that would prove it. */
export async function dropRegistration(sql: Sql, developerId: string, appId: string): Promise<void> {
  await sql.query('DELETE FROM ops.registrations WHERE developer_id = $1 AND app_id = $2', [developerId, appId]);
}
