/** Two instances of the HTTP interface on one Postgres. Their read models do not change and continue to report every key as valid. */
import assert from 'node:assert/strict';
import { NEVER, type Observable } from 'rxjs';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, type Handle } from '../../commands/handle.ts';
import { createManageMerchant } from '../../commands/manageMerchant.ts';
import { type RevokedKeys, Unavailable } from '../../commands/ports.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { Sql } from '../../projections/sql.ts';
import type { Caller } from '../../queries/apps.ts';
import { callersByKey, followRevocations, type Revocations } from '../../src/api/apiKeys.ts';
import type { Database } from '../../src/postgres/database.ts';
import { listen, type Notification } from '../../src/postgres/listen.ts';
import { createRevokedKeys, type RevocationTimes, revokedKeysChannel } from '../../src/postgres/revokedKeys.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { newApiKey, parseKey } from '../../src/security/apiKey.ts';
import { memoryEventStore } from '../support/memoryEventStore.ts';
import { freshDatabase } from '../support/postgres.ts';
import { memoryProfiles } from '../support/profiles.ts';
import { startWorld, type World } from './world.ts';

const appId = 'wallet_demo';
const by = { cause: 'operator:ada' } as const;
const path = '/payment-api/payments/f47ac10b-58cc-4372-a567-0e02b2c3d479';
/** Shorter timeouts and polls than in production. */
const times: RevocationTimes = { poll_ms: 50, patience_ms: 1_500, beat_ms: 200, gone_ms: 3_000, wait_ms: 60_000 };

interface Instance {
  readonly world: World;
  readonly revocations: Revocations;
  /** From now on, its Postgres queries fail. */
  cutOff(): void;
  stop(): Promise<void>;
}

describe('a revoked key', () => {
  let database: Database;
  let merchants: ReturnType<typeof operatorOf>;
  let instances: Instance[];
  let key: { readonly keyId: string; readonly key: string };

  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await database.query('TRUNCATE ops.revoked_keys, ops.api_instances RESTART IDENTITY');
    instances = [];
    merchants = operatorOf(createRevokedKeys(database, systemClock, times));
    await accepted(merchants.register(appId, {}, by));
    key = await accepted(merchants.issueKey(appId, { scope: 'orders', name: 'till', expiresAt: null }, by));
  });
  afterEach(() => Promise.all(instances.map((instance) => instance.stop())));

  const instance = async (name: string, notifications?: Observable<Notification>) => {
    const made = await start(database, name, key, notifications);
    instances.push(made);
    return made;
  };
  const askOnce = async ({ world }: Instance) =>
    (await world.call('GET', path, { headers: { 'X-API-Key': key.key } })).body.error as string;
  /** Repeats while the service answers that it cannot know: on a busy machine its last read may be too old for a moment. */
  const ask = async (of: Instance): Promise<string> => {
    for (;;) {
      const error = await askOnce(of);
      if (error !== 'unavailable') return error;
      await systemClock.sleep(times.poll_ms);
    }
  };
  const knownBy = async (name: string) =>
    (await database.query<{ known: bigint }>('SELECT known FROM ops.api_instances WHERE name = $1', [name]))[0]
      ?.known ?? 0n;
  const revoke = () => merchants.revokeKey(appId, key.keyId, by);

  it('is refused by every instance when the command is done, although no read model has changed', async () => {
    const both = [await instance('one'), await instance('two')] as const;
    for (const each of both) assert.equal(await ask(each), 'paymentNotFound');
    await accepted(revoke());
    for (const each of both) assert.equal(await ask(each), 'unauthenticated');
  });

  it('is refused also where the notification was lost', async () => {
    const deaf = await instance('deaf', NEVER);
    await accepted(revoke());
    assert.equal(await ask(deaf), 'unauthenticated');
  });

  it('is refused by an instance that starts later, and other keys are not', async () => {
    await accepted(revoke());
    const later = await instance('later');
    assert.equal(await ask(later), 'unauthenticated');
    assert.equal(later.revocations.isRevoked(newApiKey().keyId), false);
  });

  it('is accepted by no disconnected instance: it accepts no key at all', async () => {
    const [fine, cut] = [await instance('fine'), await instance('cut')];
    cut.cutOff();
    await accepted(revoke());
    assert.equal(await ask(fine), 'unauthenticated');
    assert.equal(await askOnce(cut), 'unavailable');
  });

  it('makes the command fail and name the running instance that does not confirm', async () => {
    await instance('fine');
    const beat = () =>
      database.query(`INSERT INTO ops.api_instances VALUES ('x', 'till-3:3000', 0, now())
                      ON CONFLICT (instance) DO UPDATE SET heard_at = now()`);
    await beat();
    let isRunning = true;
    const beating = (async () => {
      while (isRunning) {
        await beat();
        await systemClock.sleep(times.poll_ms);
      }
    })();
    try {
      const impatient = operatorOf(
        createRevokedKeys(database, systemClock, { ...times, wait_ms: 4_000 }),
        merchants.store,
      );
      const refused = await impatient.revokeKey(appId, key.keyId, by);
      assert.ok(isRefusal(refused));
      assert.match(refused.message, /^the key is revoked, but till-3:3000 did not confirm it/);
      assert.equal(refused.refused, 'unavailable');
    } finally {
      isRunning = false;
      await beating;
    }
  });

  it('waits for no instance that ended, whether well or not', async () => {
    const ended = await instance('ended');
    await ended.stop();
    assert.deepEqual(await database.query('SELECT name FROM ops.api_instances'), []);
    await database.query(`INSERT INTO ops.api_instances VALUES ('y', 'killed', 0, now())`);
    await accepted(revoke());
  });

  it('is refused after a crash between the list and the log, and revoked in the log by the command’s next run', async () => {
    const one = await instance('one');
    const crashing = operatorOf(createRevokedKeys(database, systemClock, times), merchants.store, () => {
      throw new Unavailable('the log is away');
    });
    await assert.rejects(crashing.revokeKey(appId, key.keyId, by), { name: 'Unavailable' });
    await database.query(`SELECT pg_notify('${revokedKeysChannel}', '')`);
    while ((await ask(one)) !== 'unauthenticated') await systemClock.sleep(times.poll_ms);
    assert.equal((await merchants.types()).includes('ApiKeyRevoked'), false);
    for (let run = 0; run < 2; run += 1) await accepted(revoke());
    assert.equal((await merchants.types()).filter((type) => type === 'ApiKeyRevoked').length, 1);
  });

  it('is refused also by an instance that was running when an older backup of the list was restored', async () => {
    const one = await instance('one');
    for (let others = 0; others < 3; others += 1) await merchants.revokedKeys.add({ keyId: newApiKey().keyId, appId });
    while ((await knownBy('one')) < 3n) await systemClock.sleep(times.poll_ms);
    await database.query('TRUNCATE ops.revoked_keys RESTART IDENTITY');
    while ((await knownBy('one')) > 0n) await systemClock.sleep(times.poll_ms);
    await accepted(revoke());
    assert.equal(await ask(one), 'unauthenticated');
  });

  it('is refused by an instance whose start waited for a busy Postgres', async () => {
    await accepted(revoke());
    const told: string[] = [];
    let unanswered = 2;
    const query: Sql['query'] = async (text, values) => {
      unanswered -= 1;
      if (unanswered >= 0) throw new Unavailable('Postgres cannot answer now');
      return database.query(text, values);
    };
    const late = await followRevocations({
      sql: { query },
      notifications: NEVER,
      clock: { sleep: (ms, signal) => systemClock.sleep(Math.min(ms, times.poll_ms), signal) },
      elapsed_ms: () => performance.now(),
      name: 'late',
      times,
      tell: ({ message }) => told.push(message),
    });
    assert.equal(late.isRevoked(key.keyId), true);
    assert.deepEqual(told, Array(2).fill('Postgres cannot answer now'));
    await late.close();
  });

  it('is found in the log if the list has lost it, and is added to the list again', async () => {
    await accepted(revoke());
    await database.query('TRUNCATE ops.revoked_keys');
    const find = callersByKey({ ...merchants, reads: stale(key) });
    assert.equal(await find(parseKey(key.key) ?? ''), null);
    assert.deepEqual(await database.query('SELECT key_id FROM ops.revoked_keys'), [{ key_id: key.keyId }]);
  });

  it('is refused without a trace if it is another app’s, or unknown', async () => {
    for (const [app, keyId] of [
      ['wallet_other', key.keyId],
      [appId, newApiKey().keyId],
    ] as const) {
      const refused = await merchants.revokeKey(app, keyId, by);
      assert.deepEqual(isRefusal(refused) && [refused.refused, refused.pointer], ['notFound', '/id']);
    }
    assert.deepEqual(await database.query('SELECT FROM ops.revoked_keys'), []);
  });
});

type Issued = { readonly keyId: string; readonly key: string };

/** Commands of an operator, on a separate log. @param crash called before each append of a revocation */
function operatorOf(revokedKeys: RevokedKeys, store = memoryEventStore(), crash = () => {}) {
  const handle: Handle = createHandle({
    store,
    clock: systemClock,
    ids: randomIds,
    codec: eventCodec,
    crash: (point) => (point === 'ApiKeyRevoked.beforeAppend' ? crash() : undefined),
  });
  const merchants = createManageMerchant({
    handle,
    revokedKeys,
    clock: systemClock,
    ids: randomIds,
    newKey: newApiKey,
    seal: (plain) => `sealed ${plain.length}`,
    canonicalAddress: (_chain, text) => text,
    canReceive: {},
    offers: () => true,
    isAllowedTarget: () => true,
    ...memoryProfiles(),
    settlementCoolDown_ms: 0,
    localSites: false,
  });
  const types = async () => (await store.read(`merchant-${appId}`)).map(({ type }) => type);
  return { ...merchants, handle, store, types, revokedKeys };
}

const callerOf = ({ keyId }: Issued): Caller => ({ keyId, appId, scope: 'orders', expiresAt: null });

/** Read models that contain no revocation. */
const stale = (key: Issued): Sql => ({ query: async <R>() => [callerOf(key)] as R[] });

async function start(
  database: Database,
  name: string,
  key: Issued,
  notifications: Observable<Notification> = listen(database, [revokedKeysChannel]),
): Promise<Instance> {
  let cut = false;
  const query: Sql['query'] = (text, values) =>
    cut ? Promise.reject(new Unavailable('Postgres is out of reach')) : database.query(text, values);
  const elapsed_ms = () => performance.now();
  const revocations = await followRevocations({
    sql: { query },
    notifications,
    clock: systemClock,
    elapsed_ms,
    name,
    times,
    tell: () => {},
  });
  const world = await startWorld({ findApiKey: async () => callerOf(key), isRevoked: revocations.isRevoked });
  let stopped: Promise<void> | undefined;
  return {
    world,
    revocations,
    cutOff: () => {
      cut = true;
    },
    stop: () => (stopped ??= world.stop().then(revocations.close)),
  };
}

async function accepted<T>(answer: Promise<T | Refusal>): Promise<T> {
  const given = await answer;
  if (isRefusal(given)) assert.fail(given.message);
  return given;
}
