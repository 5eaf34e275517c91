import assert from 'node:assert/strict';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { workSet } from '../../projections/sets.ts';
import { appsOf } from '../../queries/apps.ts';
import { listInvitations, listTeam, withNames } from '../../queries/team.ts';
import type { Database } from '../../src/postgres/database.ts';
import { append, createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const person = (developerId: string) => ({ developerId });
const registered = (appId: string): MerchantEvent => ({
  type: 'MerchantRegistered',
  data: { appId, developerId: 'ada', idSalt: '00'.repeat(32), registeredAt: p.minute(0) },
});
const invited = (developerId: string, role: 'developer' | 'readOnly' = 'developer'): MerchantEvent => ({
  type: 'MemberInvited',
  data: { developerId, role, expiresAt: p.minute(60) },
});
const joined = (developerId: string, role: 'developer' | 'readOnly' = 'developer'): MerchantEvent => ({
  type: 'MemberJoined',
  data: { developerId, role },
});

describe('teams in the read model', () => {
  let database: Database;
  before(async () => {
    database = await freshDatabase();
    const log = createWorld();
    await append(log, 'merchant-merchant_one', [
      registered('merchant_one'),
      ...[invited('bob'), joined('bob'), invited('rita', 'readOnly'), joined('rita', 'readOnly'), invited('ines')],
      ...[invited('rex'), joined('rex'), { type: 'MemberRemoved', data: person('rex') } as const],
      ...[invited('dan'), { type: 'InvitationEnded', data: person('dan') } as const],
    ]);
    await append(log, 'merchant-merchant_two', [
      registered('merchant_two'),
      ...[invited('bob'), joined('bob'), { type: 'OwnerSet', data: person('bob') } as const, joined('ada')],
    ]);
    await fill(database, log.store, workSet, [await wholeLog(log.store)]);
    for (const id of ['ada', 'bob', 'ines'])
      await database.query('INSERT INTO ops.people (developer_id, email, mentioned_at) VALUES ($1, $2, $3)', [
        id,
        `${id}@shop.example`,
        p.minute(0),
      ]);
  });

  it('list the owner, the members and open invitations', async () => {
    const team = await listTeam(database, 'merchant_one', p.minute(1));
    assert.deepEqual(
      team.map(({ developerId, email, role, invitedUntil }) => [developerId, email, role, invitedUntil]),
      [
        ['ada', 'ada@shop.example', 'owner', null],
        ['bob', 'bob@shop.example', 'developer', null],
        ['rita', null, 'readOnly', null],
        ['ines', 'ines@shop.example', 'developer', p.minute(60)],
      ],
    );
    assert.equal((await listTeam(database, 'merchant_one', p.minute(60))).length, 3);
    const two = await listTeam(database, 'merchant_two', p.minute(1));
    assert.deepEqual(
      two.map(({ developerId, role }) => [developerId, role]),
      [
        ['bob', 'owner'],
        ['ada', 'developer'],
      ],
    );
  });

  it('give members their apps, and nobody else', async () => {
    assert.deepEqual(await appsOf(database, 'bob'), ['merchant_one', 'merchant_two']);
    assert.deepEqual(await appsOf(database, 'rita'), ['merchant_one']);
    for (const none of ['rex', 'ines', 'dan', 'eve']) assert.deepEqual(await appsOf(database, none), [], none);
  });

  it('list the invitations of a person', async () => {
    const open = await listInvitations(database, 'ines', p.minute(1));
    assert.deepEqual(open, [{ appId: 'merchant_one', name: null, role: 'developer', expiresAt: p.minute(60) }]);
    assert.deepEqual(await listInvitations(database, 'ines', p.minute(60)), []);
    for (const none of ['dan', 'bob', 'rex']) assert.deepEqual(await listInvitations(database, none, p.minute(1)), []);
  });

  it('name people in texts of the audit trail, except former members', async () => {
    const team = await listTeam(database, 'merchant_one', p.minute(1));
    assert.equal(withNames('removed person:bob from the team', team), 'removed bob@shop.example from the team');
    assert.equal(withNames('removed person:rex from the team', team), 'removed a former member from the team');
  });
});
