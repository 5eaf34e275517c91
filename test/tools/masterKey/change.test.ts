import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { ChainBroken, eventCodec, seal, tipOf } from '../../../commands/codec.ts';
import { createHandle, currentState, readStream } from '../../../commands/handle.ts';
import { endpointSecretContext, webhookSecretContext } from '../../../commands/merchantRegistration.ts';
import { type CrashPoint, type EventStore, TransientError, Unavailable } from '../../../commands/ports.ts';
import { assert as invariant } from '../../../domain/decider.ts';
import type { MerchantEvent } from '../../../domain/merchant/events.ts';
import { merchant } from '../../../domain/merchant/state.ts';
import { keyChangesMax, type SealingEvent } from '../../../domain/sealing.ts';
import { introduceTypes, webhookTypes } from '../../../domain/webhook.ts';
import type { Sql } from '../../../projections/sql.ts';
import { mailContext } from '../../../src/accounts/outbox.ts';
import { signingKeyContext } from '../../../src/accounts/sessions.ts';
import { failureText } from '../../../src/main.ts';
import { type Database, openDatabase } from '../../../src/postgres/database.ts';
import { randomIds, systemClock } from '../../../src/process/system.ts';
import {
  createPaymentSecrets,
  createSeals,
  createSecretBox,
  hideFormer,
  keptOf,
} from '../../../src/security/masterKey.ts';
import { KeyChangeUnfinished, sealedStore, sealingStream, trustIn, withSeals } from '../../../src/store/sealed.ts';
import { changeMasterKey, MasterKeyNotChanged } from '../../../tools/masterKey/change.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { freshDatabase } from '../../support/postgres.ts';

const deciding = { clock: systemClock, ids: randomIds, codec: eventCodec };
const by = { cause: 'operator:test' } as const;
const facts = { cause: 'worker:test', appId: null } as const;
const paymentId = '0198f3c2-0000-8000-8000-000000000001';
const appIds = ['merchant_one', 'merchant_two'] as const;
const fingerprint = `sha256:${'a'.repeat(64)}`;
const stop = new AbortController().signal;
const tell = () => {};
const ids = (one: Uint8Array, other: Uint8Array) => ({
  formerKeyId: createSeals(one).keyId,
  keyId: createSeals(other).keyId,
});

function serviceOn(log: EventStore, masterKey: Uint8Array) {
  const store = withSeals({ ...log, workers: log }, { masterKey, tell, deciding });
  const handle = createHandle({ ...deciding, store });
  const box = createSecretBox(masterKey);
  return {
    store,
    handle,
    introduce: (type: string) => handle(webhookTypes, 'introduced', (known) => introduceTypes(known, [type]), facts),
    async secretOf(appId: string) {
      const { webhookSecret } = await currentState(handle, merchant, appId);
      invariant(webhookSecret !== null, 'it has one');
      assert.equal(webhookSecret.fingerprint, fingerprint);
      return box.open(webhookSecret.ciphertext, webhookSecretContext(appId));
    },
    links: createPaymentSecrets(masterKey, () => store.formerKeys().map(({ links }) => links)),
  };
}

describe('the master key of an installation that has a log', () => {
  const old = randomBytes(32);
  const masterKey = randomBytes(32);
  const link = createPaymentSecrets(old).secretOf(paymentId);
  let log: EventStore;
  let sql: Database;

  before(async () => {
    sql = await freshDatabase();
  });
  beforeEach(async () => {
    log = memoryEventStore();
    const service = serviceOn(log, old);
    await service.introduce('before');
    for (const appId of appIds) {
      const ciphertext = createSecretBox(old).seal(`secret of ${appId}`, webhookSecretContext(appId));
      const at = systemClock.now();
      const events: MerchantEvent[] = [
        { type: 'MerchantRegistered', data: { appId, developerId: null, idSalt: 'a'.repeat(64), registeredAt: at } },
        { type: 'WebhookSecretRotated', data: { ciphertext, fingerprint, rotatedAt: at } },
      ];
      if (appId === appIds[0]) {
        const sealed = createSecretBox(old).seal('of an endpoint', endpointSecretContext(appId, 'books'));
        const endpoint = { endpointId: 'books', url: 'https://books.example/', types: ['payment_held'] };
        const data = { ...endpoint, ciphertext: sealed, fingerprint, rotatedAt: at };
        events.push({ type: 'WebhookEndpointAdded', data });
      }
      await service.handle(merchant, appId, () => events, { ...facts, appId });
    }
    for (const table of ['mails', 'signing_keys']) await sql.query(`DELETE FROM ops.${table}`);
    await sql.query('DELETE FROM ops.api_instances');
    await sql.query(
      `INSERT INTO ops.mails (mail_id, developer_id, sealed, created_at, expires_at)
       VALUES ('0198f3c2-0000-8000-8000-00000000000a', NULL, $1, now(), now() + interval '1 h')`,
      [createSecretBox(old).seal('a letter', mailContext('0198f3c2-0000-8000-8000-00000000000a'))],
    );
  });

  const change = (keys = { masterKey, old } as { masterKey: Uint8Array; old: Uint8Array }, crash?: CrashPoint) =>
    changeMasterKey({ store: log, sql, deciding: { ...deciding, ...(crash && { crash }) }, tell, by }, keys, stop);

  async function isChanged(key: Uint8Array = masterKey): Promise<void> {
    const service = serviceOn(log, key);
    await service.store.sealed();
    await service.introduce('after');
    await readStream(service.store, 'webhookTypes-introduced');
    for (const appId of appIds) assert.equal(await service.secretOf(appId), `secret of ${appId}`);
    const [endpoint] = (await currentState(service.handle, merchant, appIds[0])).webhookEndpoints;
    const context = endpointSecretContext(appIds[0], 'books');
    assert.equal(createSecretBox(key).open(endpoint?.ciphertext ?? '', context), 'of an endpoint');
    assert.equal(service.links.paymentIdOf(link), paymentId);
    assert.notEqual(service.links.secretOf(paymentId), link);
    const [mail] = await sql.query<{ mail_id: string; sealed: string }>('SELECT mail_id, sealed FROM ops.mails');
    invariant(mail !== undefined, 'it waits');
    assert.equal(createSecretBox(key).open(mail.sealed, mailContext(mail.mail_id)), 'a letter');
  }
  const refusedFor = (code: string) => (error: unknown) => error instanceof MasterKeyNotChanged && error.code === code;

  it('is changed: the new one alone reads the log, signs the same webhooks and opens old links', async () => {
    const resealed = await change();
    assert.deepEqual(resealed, { count: 4, left: [] });
    await isChanged();
    await assert.rejects(serviceOn(log, old).store.sealed(), ChainBroken);
  });

  it('is named in a sentence by a service that starts on a half-changed log, without a stack', async () => {
    const crash = (at: string) => {
      if (at === 'SealingKeyChanged.afterAppend') throw new Error('died');
    };
    await assert.rejects(change({ masterKey, old }, crash), /died/);
    const said = await serviceOn(log, masterKey).store.sealed().then(String, failureText);
    assert.match(said, /^the change of the master key .* stopped half-way: run `npm run rotate-master-key` again.*$/);
  });

  it('is changed only once by two runs', async () => {
    await change();
    const { length } = await log.read(sealingStream);
    assert.equal(await change(), null);
    assert.equal((await log.read(sealingStream)).length, length);
    await isChanged();
  });

  const points = ['SealingKeyChanged', 'WebhookSecretResealed', 'SealingKeyChangeFinished'].flatMap((type) => [
    `${type}.beforeAppend`,
    `${type}.afterAppend`,
  ]);
  for (const point of points) {
    it(`is changed by a second run when the first died at ${point}`, async () => {
      const crash = (at: string) => {
        if (at === point) throw new Error(`died at ${at}`);
      };
      await assert.rejects(change({ masterKey, old }, crash), /died at/);
      const begun = (await log.read(sealingStream)).map(({ type }) => type);
      if (begun.length === 2) {
        for (const key of [old, masterKey])
          await assert.rejects(serviceOn(log, key).store.sealed(), KeyChangeUnfinished);
        const other = randomBytes(32);
        await assert.rejects(change({ masterKey: other, old }), KeyChangeUnfinished);
        await assert.rejects(change({ masterKey: other, old: masterKey }), KeyChangeUnfinished);
        await assert.rejects(change({ masterKey, old: other }), refusedFor('wrongOldKey'));
      }
      await change();
      await isChanged();
    });
  }

  /** Dies before or after it writes the nth row. */
  const dyingAt = (nth: number, when: 'before' | 'after'): Sql => {
    let written = 0;
    return {
      ...sql,
      async query(text, values) {
        const counts = text.startsWith('UPDATE') && ++written === nth;
        if (counts && when === 'before') throw new Error('died');
        const rows = await sql.query(text, values);
        if (counts) throw new Error('died');
        return rows as never;
      },
    };
  };

  for (const nth of [1, 2, 3, 4])
    for (const when of ['before', 'after'] as const)
      it(`is changed by a second run when the first died ${when} row ${nth} of Postgres was written`, async () => {
        const box = createSecretBox(old);
        await sql.query('DELETE FROM ops.signing_keys');
        for (const kid of ['key-1', 'key-2', 'key-3'])
          await sql.query('INSERT INTO ops.signing_keys (kid, sealed, created_at) VALUES ($1, $2, now())', [
            kid,
            box.seal(`of ${kid}`, signingKeyContext(kid)),
          ]);
        const deps = { store: log, deciding, tell, by };
        await assert.rejects(changeMasterKey({ ...deps, sql: dyingAt(nth, when) }, { masterKey, old }, stop), /died/);
        await assert.rejects(serviceOn(log, masterKey).store.sealed(), KeyChangeUnfinished);
        const resealed = await change();
        assert.deepEqual(resealed, { count: when === 'before' ? 5 - nth : 4 - nth, left: [] });
        const keys = await sql.query<{ kid: string; sealed: string }>('SELECT kid, sealed FROM ops.signing_keys');
        for (const { kid, sealed } of keys)
          assert.equal(createSecretBox(masterKey).open(sealed, signingKeyContext(kid)), `of ${kid}`);
        await isChanged();
      });

  const heard = () =>
    sql.query(`INSERT INTO ops.api_instances (instance, name, known, heard_at) VALUES ($1, 'api-1', 0, now())`, [
      randomUUID(),
    ]);

  it('is not changed while an instance of any role is connected: it would sign payouts that nobody knows of', async () => {
    for (const applicationName of [undefined, 'leases', 'listen']) {
      const other = openDatabase({ url: sql.url, ...(applicationName && { applicationName }) });
      await other.query('SELECT 1');
      await assert.rejects(change(), refusedFor('running'));
      await other.close();
    }
    assert.equal((await log.read(sealingStream)).length, 1);
    const connections = () =>
      sql.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listen'`);
    while ((await connections()).length > 0);
    await change();
    await isChanged();
  });

  it('is not changed further when an instance began while the change was recorded; a second run continues', async () => {
    const store: EventStore = {
      ...log,
      async append(stream, expected, events) {
        const appended = await log.append(stream, expected, events);
        if (events.some(({ type }) => type === 'SealingKeyChanged')) await heard();
        return appended;
      },
    };
    const deps = { store, sql, deciding, tell, by };
    await assert.rejects(changeMasterKey(deps, { masterKey, old }, stop), refusedFor('running'));
    await sql.query('DELETE FROM ops.api_instances');
    assert.deepEqual(await change(), { count: 4, left: [] });
    await isChanged();
  });

  describe('while the event store is away when a service starts', () => {
    let away: boolean;
    const distant = (): EventStore => ({
      ...log,
      async read(stream, options) {
        if (away) throw new Unavailable('the event store is away');
        return log.read(stream, options);
      },
    });
    beforeEach(() => {
      away = true;
    });

    it('opens today’s links, and reports others as unreadable now, until the store returns the earlier keys', async () => {
      await change();
      const service = serviceOn(distant(), masterKey);
      await assert.rejects(service.store.sealed(), Unavailable);
      assert.equal(service.links.paymentIdOf(createPaymentSecrets(masterKey).secretOf(paymentId)), paymentId);
      assert.equal(service.links.paymentIdOf('no link at all'), null);
      assert.throws(() => service.links.paymentIdOf(link), Unavailable);
      away = false;
      // Requests that were made while it was away have failed by then.
      await setImmediate();
      await service.store.sealed();
      assert.equal(service.links.paymentIdOf(link), paymentId);
    });

    it('reads the earlier keys without any other query of the store', async () => {
      await change();
      const service = serviceOn(distant(), masterKey);
      away = false;
      const known = () => {
        try {
          return service.links.paymentIdOf(link);
        } catch {
          return undefined;
        }
      };
      for (let turns = 0; turns < 100 && known() === undefined; turns++) await setImmediate();
      assert.equal(known(), paymentId);
    });

    it('stops its work without counting it as an item’s failure, when the log turns out half-changed or another’s', async () => {
      const crash = (at: string) => {
        if (at === 'SealingKeyChanged.afterAppend') throw new Error('died');
      };
      await assert.rejects(change({ masterKey, old }, crash), /died/);
      for (const [key, why] of [
        [masterKey, /half-way/],
        [old, /half-way/],
        [randomBytes(32), /seal of key/],
      ] as const) {
        const service = serviceOn(distant(), key);
        away = false;
        const stopped = (error: unknown) => error instanceof TransientError && why.test(error.message);
        await assert.rejects(readStream(service.store, `merchant-${appIds[0]}`), stopped);
        await assert.rejects(service.introduce('more'), stopped);
      }
    });
  });

  it('does not change when the old one is wrong, the new one is the old one, nothing is sealed or an instance runs', async () => {
    await assert.rejects(change({ masterKey, old: randomBytes(32) }), refusedFor('wrongOldKey'));
    await assert.rejects(change({ masterKey: old, old }), refusedFor('sameKey'));
    await heard();
    await assert.rejects(change(), refusedFor('running'));
    await sql.query('DELETE FROM ops.api_instances');
    assert.equal((await log.read(sealingStream)).length, 1);
    log = memoryEventStore();
    await assert.rejects(change(), refusedFor('nothingSealed'));
  });

  it(`is changed repeatedly, ${keyChangesMax} times, and never to one that was used before`, async () => {
    let key: Uint8Array = old;
    for (let n = 0; n < keyChangesMax; n += 1) {
      const next = randomBytes(32);
      await change({ masterKey: next, old: key });
      key = next;
      if (n === 2) await assert.rejects(change({ masterKey: old, old: key }), refusedFor('usedBefore'));
    }
    await isChanged(key);
    await assert.rejects(change({ masterKey: randomBytes(32), old: key }), refusedFor('changedTooOften'));
  });

  async function forgeChange(to: Uint8Array, sealedWith: Uint8Array | null): Promise<void> {
    const previous = (await log.read(sealingStream)).at(-1);
    invariant(previous !== undefined, 'seals have begun');
    const named = ids(old, to);
    const event: SealingEvent = {
      type: 'SealingKeyChanged',
      data: { ...named, formerKeys: hideFormer(to, named, [keptOf(sealedWith ?? randomBytes(32))]) },
    };
    const forged = seal(
      sealingStream,
      tipOf(previous),
      [event],
      { at: systemClock.now(), ...facts, schemaVersion: 2 },
      randomIds,
    );
    if (sealedWith === null) await log.append(sealingStream, previous.revision, forged);
    else {
      const trust = await trustIn(log, { masterKey: old, tell }).catch(() => null);
      const now = trust ?? { seals: createSeals(sealedWith), begun: 0n, former: [], change: null };
      await sealedStore(log, { tell, trust: () => now }).append(sealingStream, previous.revision, forged);
    }
  }
  const atRevision = (revision: bigint) => (error: unknown) =>
    error instanceof ChainBroken && error.stream === sealingStream && error.revision === revision;

  it('is not changed by a stranger, who has no old key', async () => {
    const his = randomBytes(32);
    await forgeChange(his, null);
    await assert.rejects(serviceOn(log, old).store.sealed(), atRevision(1n));
    await assert.rejects(serviceOn(log, his).store.sealed(), ChainBroken);
  });

  it('is not changed by a holder of only the old key, once it was changed', async () => {
    await change();
    await forgeChange(randomBytes(32), old);
    await assert.rejects(serviceOn(log, masterKey).store.sealed(), atRevision(3n));
  });

  it('seals no event after its change that was not sealed before it', async () => {
    await change();
    const { store, introduce } = serviceOn(log, masterKey);
    await introduce('after');
    const [, last] = await log.read('webhookTypes-introduced');
    invariant(last !== undefined, 'two were introduced');
    const made = seal(
      'webhookTypes-introduced',
      tipOf(last),
      [{ type: 'WebhookTypeIntroduced', data: { eventType: 'late' } }],
      { at: systemClock.now(), ...facts, schemaVersion: 1 },
      randomIds,
    );
    const before = { seals: createSeals(old), begun: 0n, former: [], change: null };
    await sealedStore(log, { tell, trust: () => before }).append('webhookTypes-introduced', last.revision, made);
    await assert.rejects(readStream(store, 'webhookTypes-introduced'), /revision 2.*seal of key/);
  });

  it('skips unreadable values, and holds up nothing for them', async () => {
    const [first] = appIds;
    const events = await log.read(`merchant-${first}`);
    const last = events.at(-1);
    invariant(last !== undefined, 'it is registered');
    const forged: MerchantEvent = { type: 'KeylessCreationSet', data: { allowed: true } };
    const metadata = { at: systemClock.now(), ...facts, schemaVersion: 4 };
    await log.append(last.stream, last.revision, seal(last.stream, tipOf(last), [forged], metadata, randomIds));
    const resealed = await change();
    assert.equal(resealed?.count, 2);
    assert.match(resealed?.left[0] ?? '', /merchant_one is not as it was written/);
    assert.equal(await serviceOn(log, masterKey).secretOf(appIds[1]), 'secret of merchant_two');
  });
});
