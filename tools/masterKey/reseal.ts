/** What the former master key encrypted goes under the new one: webhook secrets by an event, rows of Postgres in place. */
import { ChainBroken } from '../../commands/codec.ts';
import type { By, Handle } from '../../commands/handle.ts';
import { webhookSecretContext } from '../../commands/merchantRegistration.ts';
import type { EventStore } from '../../commands/ports.ts';
import { instanceOf } from '../../domain/decider.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { resealSecret } from '../../domain/merchant/webhook.ts';
import type { Sql } from '../../projections/sql.ts';
import { mailContext } from '../../src/accounts/outbox.ts';
import { signingKeyContext } from '../../src/accounts/signingKeys.ts';
import { createSecretBox, isSealedUnder, SecretBoxError, sealedPrefix } from '../../src/security/secretBox.ts';

export interface Keys {
  readonly masterKey: Uint8Array;
  readonly old: Uint8Array;
}

export interface Resealed {
  readonly count: number;
  /** Why something could not be: it stays as it was, and was of no use before. */
  readonly left: readonly string[];
}

type Reseal = (sealed: string, context: string) => string;

function resealer({ masterKey, old }: Keys): Reseal {
  const box = createSecretBox(masterKey, [old]);
  return (sealed, context) =>
    isSealedUnder(masterKey, sealed) ? sealed : box.seal(box.open(sealed, context), context);
}

interface Log {
  readonly store: EventStore;
  readonly handle: Handle;
  readonly by: By;
}

/** A stream that others wrote to, and a secret that no key here opens, hold up nobody else's. */
export async function resealSecrets({ store, handle, by }: Log, keys: Keys, signal: AbortSignal): Promise<Resealed> {
  const reseal = resealer(keys);
  const left: string[] = [];
  let count = 0;
  for (const appId of await appsIn(store, signal)) {
    signal.throwIfAborted();
    try {
      const context = webhookSecretContext(appId);
      const resealed = (sealed: string) => reseal(sealed, context);
      const handled = await handle(merchant, appId, (state) => resealSecret(state, resealed), { ...by, appId });
      if ('appended' in handled) count += handled.appended;
      else left.push(handled.message);
    } catch (error) {
      if (!(error instanceof ChainBroken || error instanceof SecretBoxError)) throw error;
      left.push(error.message);
    }
  }
  return { count, left };
}

async function appsIn(store: EventStore, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const apps = new Set<string>();
  for await (const { events, live } of store.all({ after: null, prefixes: [`${merchant.category}-`], signal })) {
    for (const { stream, type } of events) if (type === 'MerchantRegistered') apps.add(instanceOf(stream));
    if (live) break;
  }
  return apps;
}

/** Where rows hold sealed text, and what each text is sealed for. */
const sealedRows = [
  { table: 'ops.signing_keys', id: 'kid', column: 'sealed', context: signingKeyContext },
  { table: 'ops.mails', id: 'mail_id', column: 'sealed', context: mailContext },
  { table: 'ops.registrations', id: 'app_id', column: 'secret_ciphertext', context: webhookSecretContext },
] as const;
const pageSize = 500;

export async function resealRows(sql: Sql, keys: Keys, signal: AbortSignal): Promise<Resealed> {
  const reseal = resealer(keys);
  const left: string[] = [];
  let count = 0;
  for (const { table, id, column, context } of sealedRows) {
    let last: string | null = '';
    while (last !== null) {
      signal.throwIfAborted();
      const rows: readonly { id: string; sealed: string }[] = await sql.query(
        `SELECT ${id}::text AS id, ${column} AS sealed FROM ${table}
          WHERE ${id}::text > $1 AND NOT starts_with(${column}, $2) ORDER BY ${id}::text LIMIT ${pageSize}`,
        [last, sealedPrefix(keys.masterKey)],
      );
      for (const row of rows) {
        try {
          const sealed = reseal(row.sealed, context(row.id));
          await sql.query(`UPDATE ${table} SET ${column} = $2 WHERE ${id}::text = $1`, [row.id, sealed]);
          count += 1;
        } catch (error) {
          if (!(error instanceof SecretBoxError)) throw error;
          left.push(error.message);
        }
      }
      last = rows.length < pageSize ? null : (rows.at(-1)?.id ?? null);
    }
  }
  return { count, left };
}
