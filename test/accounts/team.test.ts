/** Invitations by mail: the sessions that they open, the admissions that they lead to, and the number of mails that they cause. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, currentState } from '../../commands/handle.ts';
import { createManageTeam } from '../../commands/team.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { merchant } from '../../domain/merchant/state.ts';
import { hour_ms } from '../../domain/time.ts';
import { createFindInvitee } from '../../src/accounts/people.ts';
import { createRates, defaultRates } from '../../src/api/rateLimits.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds, systemClock } from '../../src/process/system.ts';
import { refuseSetBack } from '../../src/readmodels/logSetBack.ts';
import { followForNotices } from '../../src/workers/accounts/notices.ts';
import { freshDatabase } from '../support/postgres.ts';
import { asker, clear, createWorld, type World } from './world.ts';

const appId = 'merchant_bakery';
const owner = 'bb8a6b2e-0000-4000-8000-000000000001';
const by = { cause: `developer:${owner}` } as const;
const ines = 'ines@shop.example';
const accepted = <T>(answer: T | Refusal): T => (isRefusal(answer) ? assert.fail(answer.message) : answer);

describe('an invitation to a team', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    await clear(database);
    await database.query('DELETE FROM ops.followers');
  });

  async function begin(registration: 'open' | 'invited' | 'closed', sendsMail = true) {
    world = createWorld(database, { registration });
    const handle = createHandle({ store: world.store, clock: world.clock, ids: randomIds, codec: eventCodec });
    accepted(await world.merchants.register(appId, { developerId: owner }, { cause: 'operator:spec' }));
    const findInvitee = createFindInvitee({ sql: database, clock: world.clock, ids: randomIds, sendsMail });
    const team = createManageTeam({ handle, clock: world.clock, findInvitee });
    const stateOf = () => currentState(handle, merchant, appId);
    return { handle, team, stateOf };
  }
  /** Signs in with a mailed code; null if no code was mailed. */
  async function signIn(email: string): Promise<string | null> {
    const asked = accepted(await world.accounts.ask(email, asker()));
    const code = /Your code is (\d+)/.exec((await world.mails()).at(-1)?.text ?? '')?.[1];
    if (code === undefined) return null;
    return accepted(await world.accounts.prove(asked.challenge, code, asker())).developerId;
  }
  async function follow(handle: ReturnType<typeof createHandle>): Promise<void> {
    const rates = createRates(database, defaultRates);
    const stop = new AbortController();
    const following = followForNotices(
      {
        store: world.store,
        codec: eventCodec,
        sql: database,
        outbox: world.outbox,
        clock: systemClock,
        ownerOf: async (id) => (await currentState(handle, merchant, id)).developerId,
        dashboard: 'https://pay.example/dashboard',
        count: (kind) => rates.count('notice', kind),
        countInvited: (developerId) => rates.count('invitation', developerId),
        recognizeLog: (signal) => refuseSetBack(database, world.store, { signal }),
        failed: (error) => assert.fail(String(error)),
      },
      stop.signal,
    );
    const place = async () =>
      (await database.query<{ position: bigint }>('SELECT position FROM ops.followers'))[0]?.position ?? -1n;
    const end = await world.store.tail();
    while ((await place()) < end) await systemClock.sleep(5);
    stop.abort();
    await following;
  }

  for (const registration of ['invited', 'closed'] as const) {
    it(`admits to the team and to nothing else where registration is ${registration}`, async () => {
      const { team, stateOf } = await begin(registration);
      assert.equal(await signIn(ines), null, 'before the invitation');
      accepted(await team.invite(appId, { email: 'Ines@Shop.Example', role: 'operations' }, by));
      const developerId = await signIn(ines);
      assert.ok(developerId);
      accepted(await team.accept(appId, { cause: `developer:${developerId}` }));
      assert.deepEqual((await stateOf()).members, [{ developerId, role: 'operations' }]);
      world.advance(30 * 24 * hour_ms);
      assert.equal(await signIn(ines), developerId, 'a member signs in later');
      const asked = await world.accounts.register(
        { email: ines, displayName: 'Mine', kind: 'merchant', slug: 'mine', settlement: null, webhookUrl: null },
        asker(),
      );
      if (registration === 'closed') assert.equal(isRefusal(asked) && asked.refused, 'registrationClosed');
      else accepted(asked);
      const mailed = (await world.mails()).map(({ subject }) => subject);
      assert.deepEqual(mailed, ['New sign-in'], 'no code registers an app');
      const confirmed = await world.accounts.confirmRegistration(developerId, 'merchant_mine', by);
      assert.equal(isRefusal(confirmed) && confirmed.refused, 'registrationClosed');
    });
  }

  it('expires after seven days, for the address as well', async () => {
    const { team } = await begin('closed');
    accepted(await team.invite(appId, { email: ines, role: 'developer' }, by));
    world.advance(8 * 24 * hour_ms);
    assert.equal(await signIn(ines), null);
  });

  it('creates no person if its author is not allowed to invite', async () => {
    const { team } = await begin('closed');
    const answer = await team.invite(appId, { email: ines, role: 'developer' }, { cause: 'developer:eve' });
    assert.equal(isRefusal(answer) && answer.refused, 'forbidden');
    assert.deepEqual(await database.query('SELECT 1 FROM ops.people'), []);
  });

  it('needs an address and an installation that sends mail', async () => {
    const { team } = await begin('open');
    const bad = await team.invite(appId, { email: 'nobody', role: 'developer' }, by);
    assert.equal(isRefusal(bad) && bad.pointer, '/email');
    const silent = await begin('open', false);
    const none = await silent.team.invite(appId, { email: ines, role: 'developer' }, by);
    assert.equal(isRefusal(none) && none.refused, 'forbidden');
  });

  it('is mailed without text of its author, three times a day to one address', async () => {
    const { team, handle, stateOf } = await begin('open');
    await follow(handle);
    world.advance(1_000);
    for (let time = 0; time < 6; time += 1) {
      accepted(await team.invite(appId, { email: ines, role: 'readOnly' }, by));
      const [invited] = (await stateOf()).invitations;
      accepted(await team.cancelInvitation(appId, invited?.developerId ?? '', by));
    }
    await follow(handle);
    const mails = await world.mails();
    assert.deepEqual(
      mails.map(({ to, subject }) => [to, subject]),
      Array.from({ length: 3 }, () => [ines, 'You are invited to a team']),
    );
    assert.match(mails[0]?.text ?? '', /Your role is: read-only/);
    assert.match(mails[0]?.text ?? '', /https:\/\/pay\.example\/dashboard\/invitations/);
    assert.equal(mails[0]?.text.includes('bakery'), false);
  });

  it('reserves a place in a team of twenty', async () => {
    const { team } = await begin('open');
    for (let one = 0; one < 20; one += 1)
      accepted(await team.invite(appId, { email: `m${one}@shop.example`, role: 'readOnly' }, by));
    const full = await team.invite(appId, { email: ines, role: 'readOnly' }, by);
    assert.equal(isRefusal(full) && full.refused, 'conflict');
    world.advance(8 * 24 * hour_ms);
    accepted(await team.invite(appId, { email: ines, role: 'readOnly' }, by));
  });
});
