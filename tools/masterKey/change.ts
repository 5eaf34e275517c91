/** Changes the master key of an installation with a log: no event is rewritten, and afterwards only the new key is needed. */
import { ChainBroken } from '../../commands/codec.ts';
import { type By, createHandle, type Handle, type HandleDeps, readStream } from '../../commands/handle.ts';
import { endpointSecretContext, webhookSecretContext } from '../../commands/merchantRegistration.ts';
import type { EventStore } from '../../commands/ports.ts';
import { instanceOf, isRefusal } from '../../domain/decider.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { resealWebhookSecrets } from '../../domain/merchant/webhook.ts';
import {
  changeKey,
  finishKeyChange,
  type KeyChange,
  keyChangesMax,
  sealing,
  sealingInstance,
} from '../../domain/sealing.ts';
import type { Sql } from '../../projections/sql.ts';
import { mailContext } from '../../src/accounts/outbox.ts';
import { signingKeyContext } from '../../src/accounts/sessions.ts';
import { serviceConnections } from '../../src/postgres/database.ts';
import {
  createSeals,
  createSecretBox,
  hideFormer,
  isSealedUnder,
  keptOf,
  SecretBoxError,
  sealedPrefix,
} from '../../src/security/masterKey.ts';
import { KeyChangeUnfinished, sealedStore, sealingStream, type Trust, trustIn } from '../../src/store/sealed.ts';

export interface Keys {
  readonly masterKey: Uint8Array;
  readonly old: Uint8Array;
}

export interface Resealed {
  readonly count: number;
  /** Reasons of failures: these items are unchanged, and were unusable before. */
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

/**
 * Encrypts webhook secrets under the new master key, each by an event. A stream with foreign events, or a secret that no key here opens,
 * does not block the others.
 */
export async function resealSecrets({ store, handle, by }: Log, keys: Keys, signal: AbortSignal): Promise<Resealed> {
  const reseal = resealer(keys);
  const left: string[] = [];
  let count = 0;
  for (const appId of await appsIn(store, signal)) {
    signal.throwIfAborted();
    try {
      const contextOf = (endpointId: string | null) =>
        endpointId === null ? webhookSecretContext(appId) : endpointSecretContext(appId, endpointId);
      const resealed = (sealed: string, endpointId: string | null) => reseal(sealed, contextOf(endpointId));
      const handled = await handle(merchant, appId, (state) => resealWebhookSecrets(state, resealed), { ...by, appId });
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

/** Rows with sealed text, and the context of each. */
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

export interface KeyChangeDeps {
  readonly store: EventStore;
  /** Null for a log without Postgres: a signer's own, which holds no secrets and is used by its process alone. */
  readonly sql: Sql | null;
  readonly deciding: Omit<HandleDeps, 'store'>;
  readonly tell: (broken: ChainBroken) => void;
  readonly by: By;
}

export type NotChangedCode = 'sameKey' | 'wrongOldKey' | 'usedBefore' | 'changedTooOften' | 'nothingSealed' | 'running';

/** Nothing was changed; `running` may be thrown after the change was recorded: then repeat the command. */
export class MasterKeyNotChanged extends Error {
  override readonly name = 'MasterKeyNotChanged';
  readonly code: NotChangedCode;
  constructor(code: NotChangedCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Crash before the change is recorded: nothing happened. After it, anywhere: no instance starts, and a repeated run continues; it skips
 * texts under the new key. After its end: repeating it changes nothing.
 *
 * @returns the re-encrypted items; null if the change was finished before
 * @throws MasterKeyNotChanged, KeyChangeUnfinished of a change to another key, ChainBroken, Unavailable
 */
export async function changeMasterKey(deps: KeyChangeDeps, keys: Keys, signal: AbortSignal): Promise<Resealed | null> {
  await refuseRunning(deps.sql);
  const trust = await changed(deps, keys);
  if (trust.change?.finished) return null;
  const store = sealedStore(deps.store, { tell: deps.tell, trust: () => trust });
  const handle = createHandle({ ...deps.deciding, store });
  const secrets = await resealSecrets({ store, handle, by: deps.by }, keys, signal);
  const rows = deps.sql === null ? { count: 0, left: [] } : await resealRows(deps.sql, keys, signal);
  const facts = { ...deps.by, appId: null };
  const finished = await handle(sealing, sealingInstance, (id) => finishKeyChange(id, trust.seals.keyId), facts);
  if (isRefusal(finished)) throw new Error(finished.message);
  return { count: secrets.count + rows.count, left: [...secrets.left, ...rows.left] };
}

/** The log once the change is recorded, by this run or an earlier one. */
async function changed(deps: KeyChangeDeps, keys: Keys): Promise<Trust> {
  const { store, tell } = deps;
  const ids = { keyId: createSeals(keys.masterKey).keyId, formerKeyId: createSeals(keys.old).keyId };
  if (ids.keyId === ids.formerKeyId)
    throw new MasterKeyNotChanged(
      'sameKey',
      'MASTER_KEY and MASTER_KEY_OLD are the same: make a new one with openssl rand -hex 32',
    );
  const events = await readStream(store, sealingStream);
  if (events.length === 0)
    throw new MasterKeyNotChanged(
      'nothingSealed',
      'the log has no seals yet: start this version once with the old key, then stop it and run this again',
    );
  const last = events.findLast(({ type }) => type === 'SealingKeyChanged')?.data as KeyChange | undefined;
  if (last?.keyId !== ids.keyId) {
    await record(deps, keys, ids);
    // An instance may have started since the check, before the change could stop it.
    await refuseRunning(deps.sql);
  } else if (last.formerKeyId !== ids.formerKeyId) throw wrongOldKey(last.formerKeyId);
  return trustIn(store, { masterKey: keys.masterKey, tell });
}

async function record({ store, tell, deciding, by }: KeyChangeDeps, keys: Keys, ids: Omit<KeyChange, 'formerKeys'>) {
  const trust = await trustIn(store, { masterKey: keys.old, tell }).catch((error: unknown) => {
    throw error instanceof ChainBroken ? wrongOldKey(null, { cause: error }) : error;
  });
  if (trust.change && !trust.change.finished) throw new KeyChangeUnfinished(trust.change.data);
  if (trust.former.some(({ seals }) => seals.keyId === ids.keyId))
    throw new MasterKeyNotChanged(
      'usedBefore',
      'MASTER_KEY was in use before: make a new one with openssl rand -hex 32',
    );
  if (trust.former.length >= keyChangesMax)
    throw new MasterKeyNotChanged(
      'changedTooOften',
      `the master key was changed ${keyChangesMax} times, as often as a log takes`,
    );
  const kept = [...trust.former.map((former) => former.kept), keptOf(keys.old)];
  const change = { ...ids, formerKeys: hideFormer(keys.masterKey, ids, kept) };
  // Sealed by the old key: it is the last such event.
  const handle = createHandle({ ...deciding, store: sealedStore(store, { tell, trust: () => trust }) });
  const recorded = await handle(sealing, sealingInstance, (inForce) => changeKey(inForce, change), {
    ...by,
    appId: null,
  });
  if (isRefusal(recorded)) throw new Error(recorded.message);
}

const wrongOldKey = (formerKeyId: string | null, options?: ErrorOptions): MasterKeyNotChanged => {
  const why = options?.cause instanceof Error ? `: ${options.cause.message}` : '';
  const named = formerKeyId === null ? '' : ` (its seals are of key ${formerKeyId})`;
  return new MasterKeyNotChanged(
    'wrongOldKey',
    `MASTER_KEY_OLD is not the key that the log was sealed with${named}: set the one that the service ran with${why}`,
    options,
  );
};

/**
 * An instance that continues with the old key would sign payouts and record untrusted events. Instances with the API report that they run;
 * others are found by their connections.
 */
async function refuseRunning(sql: Sql | null): Promise<void> {
  if (sql === null) return;
  const running = await sql.query<{ name: string }>(
    `SELECT name FROM ops.api_instances WHERE heard_at > now() - interval '6 s'
      UNION SELECT 'the service at ' || coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = ANY($1)
      ORDER BY name LIMIT 10`,
    [serviceConnections],
  );
  if (running.length === 0) return;
  const names = running.map(({ name }) => name).join(', ');
  throw new MasterKeyNotChanged(
    'running',
    `${names} still runs, or did some seconds ago: stop every instance, then run this again`,
  );
}
