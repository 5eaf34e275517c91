/** Sessions: rows in Postgres, queried at every request, so an ended session is ended everywhere. */
import { errors, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import type { Clock, Ids } from '../../commands/ports.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { type SecretBox, SecretBoxError } from '../security/masterKey.ts';
import type { Asker, Session, SignedIn } from './accounts.ts';

export const sessionLife_ms = 12 * hour_ms;
export const sessionIdle_ms = 2 * hour_ms;
const seenStep_ms = minute_ms;
/** Maximum sessions of one person. A further one ends the longest idle one. */
export const sessionsMax = 20;
const userAgentMax = 200;

/** Begins it now. */
export async function startSession(
  sql: Sql,
  { sessionId, developerId }: SignedIn,
  { address, userAgent }: Asker,
  now: Instant,
): Promise<void> {
  await sql.query(
    `DELETE FROM ops.sessions WHERE session_id IN
       (SELECT session_id FROM ops.sessions WHERE developer_id = $1 ORDER BY seen_at DESC OFFSET $2)`,
    [developerId, sessionsMax - 1],
  );
  const agent = userAgent?.replaceAll(/[^\x20-\x7e]/g, '').slice(0, userAgentMax) ?? null;
  await sql.query(
    `INSERT INTO ops.sessions (session_id, developer_id, started_at, seen_at, expires_at, address, user_agent)
     VALUES ($1, $2, $3, $3, $4, $5, $6)`,
    [sessionId, developerId, now, plus(now, sessionLife_ms), address, agent],
  );
}

/** True if the session is valid. Extends its idle timeout. */
export async function seeSession(sql: Sql, { sessionId, developerId }: SignedIn, now: Instant): Promise<boolean> {
  const [found] = await sql.query<{ seenAt: Instant }>(
    `SELECT seen_at AS "seenAt" FROM ops.sessions
      WHERE session_id = $1 AND developer_id = $2 AND expires_at > $3 AND seen_at > $4`,
    [sessionId, developerId, now, plus(now, -sessionIdle_ms)],
  );
  if (!found) return false;
  if (found.seenAt < plus(now, -seenStep_ms)) {
    await sql.query('UPDATE ops.sessions SET seen_at = greatest(seen_at, $2) WHERE session_id = $1', [sessionId, now]);
  }
  return true;
}

export const runningSessions = (sql: Sql, developerId: string, now: Instant): Promise<readonly Session[]> =>
  sql.query<Session>(
    `SELECT session_id AS "sessionId", started_at AS "startedAt", seen_at AS "lastSeenAt",
            least(expires_at, seen_at + $4 * interval '1 ms') AS "expiresAt", address, user_agent AS "userAgent"
       FROM ops.sessions WHERE developer_id = $1 AND expires_at > $2 AND seen_at > $3 ORDER BY started_at DESC, session_id`,
    [developerId, now, plus(now, -sessionIdle_ms), sessionIdle_ms],
  );

/** @param but session to keep; null ends all. @param only session to end; null for all */
export async function endSessions(
  sql: Sql,
  developerId: string,
  { only = null, but = null }: { readonly only?: string | null; readonly but?: string | null },
): Promise<number> {
  const ended = await sql.query(
    `DELETE FROM ops.sessions WHERE developer_id = $1 AND ($2::text IS NULL OR session_id = $2) AND session_id IS DISTINCT FROM $3
     RETURNING 1`,
    [developerId, only, but],
  );
  return ended.length;
}

// JSON web tokens of sessions. A valid one only names its session: Postgres knows whether the session is open.

export interface Tokens {
  issue(session: SignedIn, expiresAt: Instant): Promise<string>;
  /** Null for a token that is forged, too old, or for another purpose. @throws Unavailable */
  read(token: string): Promise<SignedIn | null>;
}

const issuer = 'payment-intents';
const audience = 'payment-intents';
const type = 'JWT';

const seconds = (at: Instant): number => Math.floor(epochMs(at) / 1_000);

export function createTokens(keys: SigningKeys, clock: Pick<Clock, 'now'>): Tokens {
  return {
    async issue({ developerId, sessionId }, expiresAt) {
      const { kid, key } = await keys.current();
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: type, kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(developerId)
        .setIssuedAt(seconds(clock.now()))
        .setExpirationTime(seconds(expiresAt))
        .sign(key);
    },

    async read(token) {
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => keyNamed(kid), {
          algorithms: [algorithm],
          issuer,
          audience,
          typ: type,
          requiredClaims: ['sub', 'sid', 'exp', 'iat'],
          currentDate: new Date(epochMs(clock.now())),
        });
        const { sub, sid } = payload;
        return typeof sub === 'string' && typeof sid === 'string' ? { developerId: sub, sessionId: sid } : null;
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };

  async function keyNamed(kid: string | undefined) {
    const key = kid === undefined ? undefined : await keys.publicKey(kid);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}

// Ed25519 keys that sign session tokens: a new one every month, shared by all instances through Postgres.

type Key = Awaited<ReturnType<typeof importJWK>>;

interface SigningKeys {
  /** The newest key; creates one if there is none, or if it is a month old. */
  current(): Promise<{ readonly kid: string; readonly key: Key }>;
  /** Key for checking a signature; undefined for an unknown key id. */
  publicKey(kid: string): Promise<Key | undefined>;
}

export interface SigningKeysDeps {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
}

const algorithm = 'EdDSA';
export const signsFor_ms = 30 * 24 * hour_ms;
const cachedMax = 100;
const wellFormedKid = /^[0-9a-f-]{36}$/;
export const signingKeyContext = (kid: string): string => `signingKey:${kid}`;

interface Row {
  readonly kid: string;
  readonly sealed: string;
  readonly created_at: string;
}

/** Two instances that create a key concurrently create two: both are valid. */
export function createSigningKeys({ sql, box, clock, ids }: SigningKeysDeps): SigningKeys {
  const checking = new Map<string, Key>();
  let signing: { readonly kid: string; readonly key: Key; readonly until_ms: number } | undefined;

  async function stored(): Promise<typeof signing> {
    const [row] = await sql.query<Row>(
      'SELECT kid, sealed, created_at FROM ops.signing_keys WHERE created_at > $1 ORDER BY created_at DESC LIMIT 1',
      [plus(clock.now(), -signsFor_ms)],
    );
    const jwk = row && opened(row);
    if (!row || !jwk) return undefined;
    return { kid: row.kid, key: await importJWK(jwk, algorithm), until_ms: Date.parse(row.created_at) + signsFor_ms };
  }

  async function made(): Promise<NonNullable<typeof signing>> {
    const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
    const kid = ids.eventId();
    const now = clock.now();
    const sealed = box.seal(JSON.stringify(await exportJWK(privateKey)), signingKeyContext(kid));
    await sql.query('INSERT INTO ops.signing_keys (kid, sealed, created_at) VALUES ($1, $2, $3)', [kid, sealed, now]);
    return { kid, key: privateKey, until_ms: epochMs(now) + signsFor_ms };
  }

  /** Undefined for a key sealed under a former master key: its tokens have ended. */
  function opened({ kid, sealed }: Pick<Row, 'kid' | 'sealed'>): JWK | undefined {
    try {
      return JSON.parse(box.open(sealed, signingKeyContext(kid))) as JWK;
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }

  return {
    async current() {
      if (!signing || signing.until_ms <= epochMs(clock.now())) signing = (await stored()) ?? (await made());
      return signing;
    },

    async publicKey(kid) {
      const known = checking.get(kid);
      if (known || !wellFormedKid.test(kid)) return known;
      const [row] = await sql.query<Row>('SELECT kid, sealed FROM ops.signing_keys WHERE kid = $1', [kid]);
      const jwk = row && opened(row);
      if (!jwk) return undefined;
      const { d: _private, ...open } = jwk;
      const key = await importJWK(open, algorithm);
      if (checking.size >= cachedMax) checking.clear();
      checking.set(kid, key);
      return key;
    },
  };
}
