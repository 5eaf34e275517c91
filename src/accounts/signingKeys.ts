/** Ed25519 keys that sign session tokens: a new one every month, shared by all instances through Postgres. */
import { exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Clock, Ids } from '../../commands/ports.ts';
import { epochMs, hour_ms, plus } from '../../domain/time.ts';
import type { Sql } from '../../projections/sql.ts';
import { type SecretBox, SecretBoxError } from '../security/masterKey.ts';

type Key = Awaited<ReturnType<typeof importJWK>>;

export interface SigningKeys {
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

export const algorithm = 'EdDSA';
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
