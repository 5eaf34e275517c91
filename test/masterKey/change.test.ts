import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { ChainBroken, eventCodec, seal, tipOf } from '../../commands/codec.ts';
import { createHandle, currentState, readStream } from '../../commands/handle.ts';
import { webhookSecretContext } from '../../commands/merchantRegistration.ts';
import type { CrashPoint, EventStore } from '../../commands/ports.ts';
import { assert as invariant } from '../../domain/decider.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { keyChangesMax, type SealingEvent } from '../../domain/sealing.ts';
import { introduceTypes, webhookTypes } from '../../domain/webhookTypes.ts';
import { mailContext } from '../../src/accounts/outbox.ts';
import { memoryEventStore } from '../../src/eventstore/memory.ts';
import { KeyChangeUnfinished, sealedStore, sealingStream, trustIn, withSeals } from '../../src/eventstore/sealed.ts';
import { changeMasterKey, MasterKeyNotChanged } from '../../src/masterKey/change.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds, systemClock } from '../../src/runtime/system.ts';
import { hideFormer, keptOf } from '../../src/security/formerKeys.ts';
import { createPaymentSecrets } from '../../src/security/paymentSecrets.ts';
import { createSeals } from '../../src/security/seals.ts';
import { createSecretBox } from '../../src/security/secretBox.ts';
import { freshDatabase } from '../support/postgres.ts';

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
      await service.handle(merchant, appId, () => events, { ...facts, appId });
    }
    await sql.query('DELETE FROM ops.mails');
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
    assert.equal(service.links.paymentIdOf(link), paymentId);
    assert.notEqual(service.links.secretOf(paymentId), link);
    const [mail] = await sql.query<{ mail_id: string; sealed: string }>('SELECT mail_id, sealed FROM ops.mails');
    invariant(mail !== undefined, 'it waits');
    assert.equal(createSecretBox(key).open(mail.sealed, mailContext(mail.mail_id)), 'a letter');
  }
  const refusedFor = (code: string) => (error: unknown) => error instanceof MasterKeyNotChanged && error.code === code;

  it('is changed: the new one alone reads the log, signs the same webhooks and opens old links', async () => {
    const resealed = await change();
    assert.deepEqual(resealed, { count: 3, left: [] });
    await isChanged();
    await assert.rejects(serviceOn(log, old).store.sealed(), ChainBroken);
  });

  it('is changed only once when that is asked for twice', async () => {
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

  it('stays as it is when the old one is wrong, the new one is the old one, nothing is sealed or an instance runs', async () => {
    await assert.rejects(change({ masterKey, old: randomBytes(32) }), refusedFor('wrongOldKey'));
    await assert.rejects(change({ masterKey: old, old }), refusedFor('sameKey'));
    await sql.query(`INSERT INTO ops.api_instances (instance, name, known, heard_at) VALUES ($1, 'api-1', 0, now())`, [
      randomUUID(),
    ]);
    await assert.rejects(change(), refusedFor('running'));
    await sql.query('DELETE FROM ops.api_instances');
    assert.equal((await log.read(sealingStream)).length, 1);
    log = memoryEventStore();
    await assert.rejects(change(), refusedFor('nothingSealed'));
  });

  it(`is changed again and again, ${keyChangesMax} times, and never to one that was used before`, async () => {
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

  it('is not changed by who has the old key alone, once it was changed', async () => {
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

  it('leaves what nobody could read, and holds up nothing for it', async () => {
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
