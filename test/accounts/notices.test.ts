/** Mails that notify owners of events of their apps. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, currentState } from '../../commands/handle.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { welcome } from '../../src/accounts/people.ts';
import { createRates, defaultRates } from '../../src/api/rateLimits.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { refuseSetBack } from '../../src/readmodels/logSetBack.ts';
import { followForNotices, type NoticesDeps } from '../../src/workers/accounts/notices.ts';
import { freshDatabase } from '../support/postgres.ts';
import { accepted, ada, clear, createWorld, registered, type World } from './world.ts';

const wallet = (address: string) =>
  ({ chainId: 8453, tokenSymbol: 'USDC', receiverAddress: `0x${address.repeat(20)}` }) as const;

describe('accounts: notices', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    await database.query('DELETE FROM ops.followers');
    world = createWorld(database);
  });

  function deps(more: Partial<NoticesDeps> = {}): NoticesDeps {
    const handle = createHandle({ store: world.store, clock: world.clock, ids: randomIds, codec: eventCodec });
    return {
      store: world.store,
      codec: eventCodec,
      sql: database,
      outbox: world.outbox,
      clock: systemClock,
      ownerOf: async (appId) => (await currentState(handle, merchant, appId)).developerId,
      dashboard: 'https://pay.example/dashboard',
      count: async () => null,
      countInvited: async () => null,
      recognizeLog: (signal) => refuseSetBack(database, world.store, { signal }),
      failed: (error) => assert.fail(String(error)),
      ...more,
    };
  }

  const place = async () =>
    (await database.query<{ position: bigint }>('SELECT position FROM ops.followers'))[0]?.position ?? null;

  /** Follows the log until all of its present events are notified. */
  async function follow(more: Partial<NoticesDeps> = {}): Promise<void> {
    const stop = new AbortController();
    const following = followForNotices(deps(more), stop.signal);
    const end = await world.store.tail();
    while (((await place()) ?? -1n) < end) await systemClock.sleep(5);
    stop.abort();
    await following;
  }

  const subjects = async () => (await world.mails()).map(({ to, subject }) => [to, subject]);

  it('begin at the log’s end, and omit an app’s initial settings', async () => {
    await registered(world);
    await follow();
    assert.deepEqual(await subjects(), []);
    await registered(world, { slug: 'two', settlement: wallet('aa') });
    await follow();
    assert.deepEqual(await subjects(), []);
  });

  it('notify its owner of each change once', async () => {
    const { appId, developerId } = await registered(world, { settlement: wallet('aa') });
    await follow();
    const by = { cause: `developer:${developerId}` } as const;
    world.advance(1_000);
    accepted(await world.merchants.requestSettlement(appId, wallet('bb'), by));
    accepted(await world.merchants.cancelSettlement(appId, by));
    accepted(await world.merchants.rotateSecret(appId, by));
    accepted(await world.merchants.setWebhookUrl(appId, null, by));
    accepted(await world.merchants.issueKey(appId, { scope: 'admin', name: 'Call 555 now', expiresAt: null }, by));
    accepted(await world.merchants.setSettlement(appId, wallet('cc'), { cause: 'operator:test' }));
    await follow();
    const mails = await world.mails();
    assert.deepEqual(
      mails.map(({ to, subject }) => [to, subject]),
      [
        'Settlement wallet will change',
        'Settlement wallet stays',
        'Webhook secret rotated',
        'Webhooks stopped',
        'API key issued',
        'Settlement wallet set',
      ].map((subject) => [ada, `${subject}: ${appId}`]),
    );
    assert.match(mails[0]?.text ?? '', /0x(bb){20} on Base, in USDC/);
    assert.match(mails[0]?.text ?? '', /https:\/\/pay\.example\/dashboard/);
    assert.ok(!mails.some(({ text }) => text.includes('555')), 'nobody else’s words');
    await follow();
    assert.deepEqual(await subjects(), []);
  });

  it('are sent once by a follower that is killed at any place and restarted', async () => {
    const { appId, developerId } = await registered(world);
    await follow();
    const by = { cause: `developer:${developerId}` } as const;
    world.advance(1_000);
    for (let time = 0; time < 6; time += 1) accepted(await world.merchants.rotateSecret(appId, by));
    let left = 0;
    const dying: NoticesDeps['outbox'] = {
      put: async (tx, mail) => {
        await world.outbox.put(tx, mail);
        left -= 1;
        if (left < 0) throw new Error('killed');
      },
    };
    for (left of [0, 1, 2]) {
      const stop = new AbortController();
      await followForNotices(deps({ outbox: dying, failed: () => stop.abort() }), stop.signal);
    }
    await follow();
    assert.equal((await subjects()).length, 6);
  });

  it('are limited to twenty per day and kind: a flood hides nothing of another kind', async () => {
    const { appId, developerId } = await registered(world, { settlement: wallet('aa') });
    await follow();
    const by = { cause: `developer:${developerId}` } as const;
    world.advance(1_000);
    for (let time = 0; time < 25; time += 1) accepted(await world.merchants.rotateSecret(appId, by));
    accepted(await world.merchants.requestSettlement(appId, wallet('bb'), by));
    const rates = createRates(database, defaultRates);
    await follow({ count: (kind) => rates.count('notice', kind) });
    const mails = await world.mails();
    assert.equal(mails.length, 21);
    assert.match(mails[19]?.text ?? '', /no more mail of this kind for a day/);
    assert.equal(mails[20]?.subject, `Settlement wallet will change: ${appId}`);
  });

  it('go to owners: an app without an owner notifies nobody, its new owner is notified', async () => {
    const by = { cause: 'operator:test' } as const;
    accepted(await world.merchants.register('wallet_house', {}, by));
    await follow();
    world.advance(1_000);
    accepted(await world.merchants.rotateSecret('wallet_house', by));
    const operator = { sql: database, outbox: world.outbox, clock: world.clock, ids: randomIds };
    const { developerId } = accepted(await welcome(operator, ada));
    await follow();
    assert.deepEqual(await subjects(), []);
    accepted(await world.merchants.setOwner('wallet_house', developerId, by));
    await follow();
    const [mail, ...more] = await world.mails();
    assert.deepEqual([mail?.to, mail?.subject, more], [ada, 'You own an app: wallet_house', []]);
    assert.doesNotMatch(mail?.text ?? '', /If that was not you/);
    assert.match(mail?.text ?? '', /ask the operator/);
  });
});
