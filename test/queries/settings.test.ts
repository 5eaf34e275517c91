import assert from 'node:assert/strict';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { noProfile } from '../../domain/merchant/profile.ts';
import { appsOf, embeddingSites, findApiKey, findApp, findLogo, getSettings, listApps } from '../../queries/apps.ts';
import { withLastUse } from '../../queries/merchantAudit.ts';
import { createKeyUses } from '../../src/api/apiKeys.ts';
import { createProfileStore } from '../../src/postgres/profiles.ts';
import { append } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

describe('an app’s settings in Postgres', () => {
  const given = givenReadModels();

  const digest = 'ab'.repeat(32);
  const wallet = (receiverAddress: string) =>
    ({ chainId: 1, token: p.ethereumUsdc.token, receiverAddress, receiverMemo: null }) as const;
  const shown = (receiverAddress: string) => ({
    chainId: 1,
    tokenSymbol: 'USDC',
    receiverAddress,
    receiverMemo: null,
  });
  const registered = (appId: string, developerId: string | null): MerchantEvent => ({
    type: 'MerchantRegistered',
    data: { appId, developerId, idSalt: digest, registeredAt: p.minute(0) },
  });
  const happen = async (appId: string, ...events: MerchantEvent[]) => {
    await append(given.world, `merchant-${appId}`, events);
    await given.project();
  };
  beforeEach(() => given.database.query('TRUNCATE ops.profiles, ops.logos, ops.key_uses'));

  it('name the sites that may show payment pages', async () => {
    await happen('merchant_shop', registered('merchant_shop', null));
    assert.deepEqual(await embeddingSites(given.database, 'merchant_shop'), []);
    const sites = ['https://a.example', 'https://b.example'];
    await happen('merchant_shop', { type: 'EmbeddingSitesSet', data: { sites } });
    assert.deepEqual(await embeddingSites(given.database, 'merchant_shop'), sites);
    assert.deepEqual((await getSettings(given.database, 'merchant_shop', p.minute(1)))?.embeddingSites, sites);
    assert.deepEqual(await embeddingSites(given.database, 'merchant_none'), []);
  });

  it('show the wallet in force, and the next one until its time', async () => {
    await happen(
      'merchant_shop',
      registered('merchant_shop', 'ada'),
      { type: 'SettlementWalletSet', data: wallet('0xOld') },
      {
        type: 'SettlementChangeRequested',
        data: { changeId: 'c1', wallet: wallet('0xNew'), effectiveAt: p.minute(60) },
      },
    );
    const before = await getSettings(given.database, 'merchant_shop', p.minute(59));
    assert.deepEqual(before?.settlement, shown('0xOld'));
    assert.deepEqual(before?.settlementChange, {
      changeId: 'c1',
      wallet: shown('0xNew'),
      effectiveAt: p.minute(60),
    });
    const after = await getSettings(given.database, 'merchant_shop', p.minute(60));
    assert.deepEqual([after?.settlement, after?.settlementChange], [shown('0xNew'), null]);
    for (const [minute, address] of [
      [59, '0xOld'],
      [60, '0xNew'],
    ] as const) {
      const app = await findApp(given.database, 'merchant_shop', p.minute(minute));
      assert.equal(app?.settlement?.receiverAddress, address);
    }
  });

  it('show the profile as it was saved, and none once it is removed', async () => {
    const store = createProfileStore(given.database);
    const profile = { ...noProfile, name: 'Bäckerei "Süß" \\ Söhne', colour: '#aabbcc' };
    const content = JSON.stringify({ salt: digest, ...profile });
    await store.keep('merchant_shop', { digest, content });
    await store.keep('merchant_shop', { digest, content });
    assert.deepEqual(await store.find(digest), profile);
    const [row] = await given.database.query<{ text: string }>('SELECT content::text AS text FROM ops.profiles');
    assert.equal(row?.text, content);
    await happen('merchant_shop', registered('merchant_shop', 'ada'), {
      type: 'ProfileSet',
      data: { digest, changed: ['name'] },
    });
    assert.deepEqual((await getSettings(given.database, 'merchant_shop', p.minute(1)))?.profile, profile);
    await given.database.query('DELETE FROM ops.profiles');
    assert.deepEqual((await getSettings(given.database, 'merchant_shop', p.minute(1)))?.profile, noProfile);
    assert.equal(await store.find(digest), null);
    assert.equal(await getSettings(given.database, 'merchant_none', p.minute(1)), null);
  });

  it('list a person’s apps, also those that were given to them, and no others', async () => {
    await happen('merchant_one', registered('merchant_one', 'ada'));
    await happen('merchant_two', registered('merchant_two', null), {
      type: 'OwnerSet',
      data: { developerId: 'ada' },
    });
    await happen('merchant_three', registered('merchant_three', 'ada'), {
      type: 'OwnerSet',
      data: { developerId: 'eve' },
    });
    assert.deepEqual(await appsOf(given.database, 'ada'), ['merchant_one', 'merchant_two']);
    assert.deepEqual(await appsOf(given.database, 'eve'), ['merchant_three']);
    assert.deepEqual(await appsOf(given.database, 'nobody'), []);
    assert.deepEqual((await listApps(given.database, 'eve'))[0], {
      appId: 'merchant_three',
      registeredAt: p.minute(0),
      name: null,
      logo: null,
    });
  });

  it('keep logos byte for byte, each once for each app', async () => {
    const store = createProfileStore(given.database);
    const logo = { digest, type: 'image/webp', bytes: new Uint8Array([0, 255, 7]) } as const;
    for (const appId of ['merchant_one', 'merchant_one', 'merchant_two']) await store.keepLogo(appId, logo);
    await given.database.query(`DELETE FROM ops.logos WHERE app_id = 'merchant_one'`);
    const found = await findLogo(given.database, digest);
    assert.deepEqual([found?.type, [...(found?.bytes ?? [])]], ['image/webp', [0, 255, 7]]);
    assert.equal(await findLogo(given.database, 'cd'.repeat(32)), null);
  });

  it('state when a key expires, and its new name', async () => {
    const key = { keyId: 'k1', scope: 'orders', hash: digest, hint: 'pi_live_…1234', name: 'till' } as const;
    await happen(
      'merchant_shop',
      registered('merchant_shop', 'ada'),
      { type: 'ApiKeyIssued', data: { ...key, expiresAt: p.minute(60) } },
      { type: 'ApiKeyRenamed', data: { keyId: 'k1', name: 'till 2' } },
    );
    assert.equal((await findApiKey(given.database, digest))?.expiresAt, p.minute(60));
    const [row] = await given.database.query<{ name: string }>('SELECT name FROM api_keys');
    assert.equal(row?.name, 'till 2');
  });

  describe('the last use of a key', () => {
    const listed = (keyId: string) => ({
      keyId,
      name: 'till',
      scope: 'orders' as const,
      hint: '',
      createdAt: p.minute(0),
      createdBy: 'operator:ada',
      expiresAt: null,
      revokedAt: null,
    });
    const lastUses = async () =>
      (await withLastUse(given.database, ['k1', 'k2', 'k3'].map(listed))).map(({ lastUsedAt }) => lastUsedAt);

    it('is known by the hour, from every instance, and never decreases', async () => {
      let now = p.minute(65);
      const [one, two] = [0, 1].map(() => createKeyUses(given.database, { now: () => now }));
      for (const keyId of ['k1', 'k1', 'k2']) one?.used(keyId);
      assert.deepEqual(await lastUses(), [null, null, null]);
      await one?.write();
      now = p.minute(5);
      two?.used('k1');
      await two?.write();
      assert.deepEqual(await lastUses(), [p.minute(60), p.minute(60), null]);
    });

    it('is written once an hour, and again after an outage', async () => {
      let statements = 0;
      let away = true;
      const sql: typeof given.database = {
        ...given.database,
        query: async (text, values) => {
          statements += 1;
          if (away) throw new Error('away');
          return given.database.query(text, values);
        },
      };
      const uses = createKeyUses(sql, { now: () => p.minute(1) });
      uses.used('k1');
      await assert.rejects(uses.write(), /away/);
      away = false;
      await uses.write();
      uses.used('k1');
      await uses.write();
      assert.equal(statements, 2);
      assert.deepEqual(await lastUses(), [p.minute(0), null, null]);
    });
  });
});
