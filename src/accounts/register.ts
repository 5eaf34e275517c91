/** Registration of an app: it waits outside the log until its owner's e-mail is proved, and reserves its id for a day. */
import { isRefusal, type Refusal, refuse, refusedTogether } from '../../domain/decider.ts';
import { appKind } from '../../domain/merchant/app.ts';
import type { SealedSecret, SettlementWallet } from '../../domain/merchant/events.ts';
import { readProfileChange } from '../../domain/merchant/profile.ts';
import { hour_ms, type Instant, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { type AccountRegistration, type Accounts, appTaken, badEmail, noMail, registrationClosed } from './accounts.ts';
import { type AccountsDeps, isWelcome, mailCode } from './deps.ts';
import { readEmail, registrationEmail } from './emails.ts';
import { findByEmail, mention } from './people.ts';
import type { SignInLimits } from './signInLimits.ts';

const nameMax = 40;
const tailCharacters = 6;

/** The requested id, or one made from the name and random characters, so that nobody can block it. */
export function appIdFor(
  { kind, slug, displayName }: Pick<AccountRegistration, 'kind' | 'slug' | 'displayName'>,
  random: string,
): string | Refusal {
  if (slug === null)
    return `${kind}_${[readable(displayName), random.slice(0, tailCharacters)].filter(Boolean).join('-')}`;
  const appId = `${kind}_${slug}`;
  if (appKind(appId)) return appId;
  return refuse('invalidRequest', 'slug must be 1 to 48 of a-z, 0-9, _ and -, a letter or digit at both ends', '/slug');
}

/** Characters of a name that ids allow. */
const readable = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, nameMax)
    .replaceAll(/^-+|-+$/g, '');

// Registrations that wait for proof of their owner's e-mail.

export interface StoredRegistration {
  readonly registrationId: string;
  readonly appId: string;
  readonly developerId: string;
  readonly displayName: string;
  readonly settlement: SettlementWallet | null;
  readonly webhookUrl: string | null;
  readonly secret: SealedSecret;
}

export interface KeptRegistration extends StoredRegistration {
  readonly requestedAt: Instant;
  readonly expiresAt: Instant;
}

/** Short, because nobody has proved anything: strangers could otherwise reserve others' names. */
export const life_ms = hour_ms;

const columns = `registration_id AS "registrationId", app_id AS "appId", developer_id AS "developerId",
  display_name AS "displayName", settlement, webhook_url AS "webhookUrl",
  json_build_object('ciphertext', secret_ciphertext, 'fingerprint', secret_fingerprint) AS secret,
  requested_at AS "requestedAt", expires_at AS "expiresAt"`;

/** @returns false if the app's id is reserved already */
export async function keepRegistration(sql: Sql, registration: StoredRegistration, now: Instant): Promise<boolean> {
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

export async function findRegistration(
  sql: Sql,
  registrationId: string,
  now: Instant,
): Promise<StoredRegistration | null> {
  const [found] = await sql.query<StoredRegistration>(
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

/** Deletes the registration and its codes. */
export async function dropRegistration(sql: Sql, developerId: string, appId: string): Promise<void> {
  await sql.query('DELETE FROM ops.registrations WHERE developer_id = $1 AND app_id = $2', [developerId, appId]);
}

/** One transaction stores person, registration, code and mail. A person who may not register gets the same answer and no code. */
export function createRegister(deps: AccountsDeps, signInLimits: SignInLimits): Accounts['register'] {
  const { sql, clock, ids, passcodes, merchants, registration: policy } = deps;
  return async (request, asker) => {
    if (policy === 'closed') return registrationClosed();
    const { displayName, webhookUrl, settlement } = request;
    const email = readEmail(request.email) ?? badEmail();
    const profile = readProfileChange({ name: displayName });
    const name = isRefusal(profile) ? { ...profile, pointer: '/displayName' } : displayName;
    const appId = appIdFor(request, ids.secret());
    const wrong = refusedTogether([email, name, appId].filter(isRefusal));
    if (wrong || isRefusal(email) || isRefusal(appId)) return wrong ?? badEmail();
    if (!deps.sendsMail) return noMail();
    const known = await findByEmail(sql, email, clock.now());
    const asked =
      (await signInLimits.register(asker)) ?? (await signInLimits.askForCode(email, known?.developerId ?? null, asker));
    if (isRefusal(asked)) return asked;
    const prepared = await merchants.prepare(appId, { webhookUrl, settlement });
    if (isRefusal(prepared)) return prepared.refused === 'appIdTaken' ? appTaken(appId) : prepared;
    const { webhookSecret, ...kept } = prepared;
    const { code, ...keptCode } = await passcodes.make(asked.digits);
    const registrationId = ids.eventId();
    return sql.transaction(async (tx) => {
      const now = clock.now();
      const person = await mention(tx, email, ids.eventId(), now);
      const { developerId } = person;
      if (!(await keepRegistration(tx, { ...kept, registrationId, appId, developerId, displayName }, now))) {
        return appTaken(appId);
      }
      const letter = registrationEmail(code, asker.address);
      const to = isWelcome(policy, person) ? person : null;
      const asked = await mailCode(deps, tx, { to, registrationId, kept: keptCode, letter });
      const shown = { webhookSecret, webhookSecretFingerprint: kept.secret.fingerprint };
      return { developerId, appId, webhookUrl: kept.webhookUrl, ...shown, ...asked };
    });
  };
}
