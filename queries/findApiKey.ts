import type { KeyScope } from '../domain/merchant.ts';
import type { Sql } from './sql.ts';

export interface Caller {
  readonly keyId: string;
  readonly appId: string;
  readonly scope: KeyScope;
}

/** Who presents a key, by the key's SHA-256 as hex; null for a key that is unknown or revoked. @throws Unavailable */
export async function findApiKey(sql: Sql, hash: string): Promise<Caller | null> {
  const [key] = await sql.query<Caller>(
    'SELECT key_id AS "keyId", app_id AS "appId", scope FROM api_keys WHERE hash = $1 AND revoked_at IS NULL',
    [hash],
  );
  return key ?? null;
}
