/** Apps: their settings, their webhook secrets, and who a key belongs to. */
import type { KeyScope } from '../domain/merchant.ts';
import type { Sql } from '../projections/sql.ts';
import { asStored } from './sql.ts';

/** An app's settings as its last command left them. */
export interface App {
  readonly appId: string;
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  readonly settlement: {
    readonly chainId: number;
    readonly tokenSymbol: string;
    readonly receiverAddress: string;
    readonly receiverMemo: string | null;
  } | null;
  readonly keylessAllowed: boolean;
}

interface Row {
  readonly app_id: string;
  readonly id_salt: string;
  readonly webhook_url: string | null;
  readonly settlement_chain_id: number | null;
  readonly settlement_token_symbol: string;
  readonly settlement_address: string;
  readonly settlement_memo: string | null;
  readonly keyless_creation: boolean;
}

/** Null for an app that is not registered (as far as is projected). @throws Unavailable */
export async function findApp(sql: Sql, appId: string): Promise<App | null> {
  const [row] = await sql.query<Row>(
    `SELECT app_id, id_salt, webhook_url, settlement_chain_id, settlement_token_symbol, settlement_address, settlement_memo,
            keyless_creation
       FROM apps WHERE app_id = $1`,
    [asStored(appId)],
  );
  if (!row) return null;
  return {
    appId: row.app_id,
    idSalt: row.id_salt,
    webhookUrl: row.webhook_url,
    settlement:
      row.settlement_chain_id === null
        ? null
        : {
            chainId: row.settlement_chain_id,
            tokenSymbol: row.settlement_token_symbol,
            receiverAddress: row.settlement_address,
            receiverMemo: row.settlement_memo,
          },
    keylessAllowed: row.keyless_creation,
  };
}

/** Payments of the app that wait for their money and were created without a key; no more than `max` are counted. @throws Unavailable */
export async function countOpenKeyless(sql: Sql, appId: string, max: number): Promise<number> {
  const [counted] = await sql.query<{ open: bigint }>(
    `SELECT count(*) AS open FROM (SELECT FROM payments
      WHERE app_id = $1 AND keyless AND status IN ('payment_unpaid', 'payment_started') LIMIT $2) AS waiting`,
    [asStored(appId), max],
  );
  return Number(counted?.open ?? 0n);
}

export interface SealedSecret {
  readonly ciphertext: string;
  readonly fingerprint: string;
}

/** The app's webhook secret in force, sealed; null when it has none. @throws Unavailable */
export async function findWebhookSecret(sql: Sql, appId: string): Promise<SealedSecret | null> {
  const [secret] = await sql.query<SealedSecret>(
    `SELECT webhook_secret_ciphertext AS ciphertext, webhook_secret_fingerprint AS fingerprint
       FROM apps WHERE app_id = $1 AND webhook_secret_ciphertext IS NOT NULL`,
    [appId],
  );
  return secret ?? null;
}

export interface Caller {
  readonly keyId: string;
  readonly appId: string;
  readonly scope: KeyScope;
}

/** The app that a key belongs to, by the key's SHA-256 as hex; null for an unknown or revoked key. @throws Unavailable */
export async function findApiKey(sql: Sql, hash: string): Promise<Caller | null> {
  const [key] = await sql.query<Caller>(
    'SELECT key_id AS "keyId", app_id AS "appId", scope FROM api_keys WHERE hash = $1 AND revoked_at IS NULL',
    [hash],
  );
  return key ?? null;
}
