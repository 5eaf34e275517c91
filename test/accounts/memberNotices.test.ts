/** Notifications of members about payments: by mail and in the bell, as each member chose, and never a flood. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ChainBroken } from '../../commands/codec.ts';
import { currentState } from '../../commands/handle.ts';
import type { MerchantEvent } from '../../domain/merchant/events.ts';
import { defaultChoice, type NotificationChoice, noticeKinds } from '../../domain/merchant/notifications.ts';
import { merchant } from '../../domain/merchant/state.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { hour_ms, instant, minute_ms } from '../../domain/time.ts';
import type { Generation } from '../../projections/generations.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { countUnread, markRead, memberNotices } from '../../queries/notices.ts';
import { createOutbox, type Mail } from '../../src/accounts/outbox.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds } from '../../src/process/system.ts';
import { refuseSetBack } from '../../src/readmodels/logSetBack.ts';
import { createSecretBox } from '../../src/security/masterKey.ts';
import {
  collectFor_ms,
  type MemberNoticesDeps,
  mailEvery_ms,
  mailsPerDay,
  notifyOnce,
  periodOf,
} from '../../src/workers/accounts/memberNotices.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, proceed, wholeLog } from '../support/readModels.ts';

const sets = [workSet, reportsSet] as const;
const app = 'wallet_demo';
const joined = (developerId: string, role: 'readOnly' | 'developer' = 'readOnly'): MerchantEvent => ({
  type: 'MemberJoined',
  data: { developerId, role },
});
const chose = (developerId: string, choice: Partial<NotificationChoice>): MerchantEvent => ({
  type: 'NotificationsSet',
  data: { developerId, ...defaultChoice, ...choice },
});

describe('notifications of members', () => {
  let database: Database;
  let world: World;
  let payments = 0;
  let generations: Generation[] = [];
  /** Number of events in the read models. */
  let read = 0;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    world = createWorld();
    for (const table of ['followers', 'mails', 'notice_mails', 'notice_mailboxes', 'notice_firsts', 'notice_summaries'])
      await database.query(`DELETE FROM ops.${table}`);
    await database.query('DELETE FROM ops.notice_readers');
    for (const id of ['ada', 'bob'])
      await database.query(
        'INSERT INTO ops.people (developer_id, email, proved_at, mentioned_at) VALUES ($1, $2, $3, $3) ON CONFLICT DO NOTHING',
        [id, `${id}@shop.example`, p.minute(0)],
      );
    await happen({
      type: 'MerchantRegistered',
      data: { appId: app, developerId: 'ada', idSalt: '00'.repeat(32), registeredAt: p.minute(0) },
    });
    await round();
  });

  const happen = async (...events: MerchantEvent[]) => void (await append(world, `merchant-${app}`, events));
  async function pay(rest: readonly PaymentEvent[], appId = app): Promise<void> {
    payments += 1;
    const paymentId = paymentIdOf(payments);
    const created = p.created();
    await append(world, `payment-${paymentId}`, [
      { ...created, data: { ...created.data, paymentId, appId } } as PaymentEvent,
      ...rest,
    ]);
  }
  const late = p.payin({ tx: 'late', at: p.minute(70) });
  const hold = () => pay([p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '10.01')]);
  const large = (received = '1000.00') => pay([p.detected(), p.confirmed(), p.funded([p.payin()], { received })]);
  async function failWebhook(): Promise<void> {
    const deliveryId = randomIds.eventId();
    await append(world, `webhook-${deliveryId}`, [
      {
        type: 'WebhookSendStarted',
        data: {
          ...{
            deliveryId,
            kind: 'automatic',
            firstDeliveryId: null,
            ordinal: 0,
            paymentId: paymentIdOf(1),
            appId: app,
          },
          ...{ eventType: 'payment_payin_completed', url: 'https://shop.example/', eventId: deliveryId },
          ...{ eventRevision: '3', startedAt: world.clock.now() },
        },
      },
      {
        type: 'WebhookExhausted',
        data: {
          ...{ statusCode: 500, error: null, responsePreview: '<b>no</b>', request: null, duration_ms: 1 },
          finishedAt: world.clock.now(),
        },
      },
    ]);
  }

  const outbox = () => createOutbox({ sql: database, box, clock: { now: () => world.clock.now() }, ids: randomIds });
  const box = createSecretBox(randomBytes(32));
  const deps = (more: Partial<MemberNoticesDeps> = {}): MemberNoticesDeps => ({
    store: world.store,
    sql: database,
    outbox: outbox(),
    clock: world.clock,
    stateOf: (appId) => currentState(world.handle, merchant, appId),
    dashboard: 'https://pay.example/dashboard',
    recognizeLog: (signal) => refuseSetBack(database, world.store, { signal }),
    failed: (error) => assert.fail(String(error)),
    ...more,
  });
  /** Rebuilds the read models, then runs a round: a rebuild must notify nobody twice. */
  async function round(more: Partial<MemberNoticesDeps> = {}): Promise<void> {
    const log = await wholeLog(world.store);
    generations = [];
    for (const set of sets) generations.push(await fill(database, world.store, set, [log]));
    read = log.length;
    await notifyOnce(deps(more), new AbortController().signal);
  }
  /** Runs a round of the read models that exist, after their new events. A rebuild creates a hundred tables. */
  async function nextRound(): Promise<void> {
    const log = await wholeLog(world.store);
    for (const [index, set] of sets.entries()) {
      const at = generations[index] ?? assert.fail('no read models have been built');
      generations[index] = await proceed(database, world.store, set, at, log.slice(read));
    }
    read = log.length;
    await notifyOnce(deps(), new AbortController().signal);
  }
  /** Mails after the time for collecting, and after the minimum interval. */
  async function later(duration_ms = mailEvery_ms): Promise<readonly Mail[]> {
    world.clock.advance(duration_ms);
    await round();
    return sent();
  }
  async function sent(): Promise<readonly Mail[]> {
    const mails: Mail[] = [];
    for (const mailId of await outbox().due(100, world.clock.now())) {
      const mail = await outbox().open(mailId);
      if (mail) mails.push(mail);
      await outbox().remove(mailId);
    }
    return mails;
  }

  it('go to the members who chose them, once, with our own words only', async () => {
    await happen(joined('bob'), chose('bob', { mail: [] }));
    await hold();
    await round();
    assert.deepEqual(await sent(), [], 'collected first');
    const [mail, ...more] = await later(collectFor_ms);
    assert.deepEqual(more, []);
    assert.equal(mail?.to, 'ada@shop.example');
    assert.match(mail?.text ?? '', /1 payment holds money/);
    assert.match(mail?.text ?? '', /https:\/\/pay\.example\/dashboard\/apps\/wallet_demo\/payments\?group=needs/);
    assert.match(mail?.text ?? '', /\/notifications\n$/);
    assert.deepEqual(await later(), [], 'a rebuild and later rounds send nothing again');
  });

  it('become a few mails in a flood: one has everything that waited, and a day has at most ten', async () => {
    const counts: number[] = [];
    const note = (mails: readonly Mail[]): void => {
      for (const { text } of mails) counts.push(Number(/(\d+) payments hold money/.exec(text)?.[1]));
    };
    for (let step = 0; step < 22; step += 1) {
      for (let n = 0; n < 3; n += 1) await hold();
      world.clock.advance(mailEvery_ms);
      await nextRound();
      note(await sent());
    }
    assert.equal(counts.length, mailsPerDay);
    note(await later(24 * hour_ms));
    assert.equal(counts.length, mailsPerDay + 1);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      66,
    );
    assert.deepEqual(await database.query('SELECT FROM ops.notice_mails'), []);
  });

  it('keep at most one mail for a person in a quarter of an hour, for all apps together', async () => {
    await hold();
    await round();
    assert.equal((await later(collectFor_ms)).length, 1);
    await hold();
    assert.equal((await later(collectFor_ms)).length, 0);
    assert.equal((await later(mailEvery_ms)).length, 1);
  });

  it('reach the members of other apps while the records of one app are damaged', async () => {
    const other = 'wallet_other';
    const registered = { appId: other, developerId: 'bob', idSalt: '01'.repeat(32), registeredAt: p.minute(0) };
    await append(world, `merchant-${other}`, [{ type: 'MerchantRegistered', data: registered }]);
    await hold();
    await pay([p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '10.01')], other);
    const damaged = new ChainBroken({ stream: `merchant-${app}`, revision: 0n, expected: 'a', found: 'b' });
    const failures: unknown[] = [];
    const broken = {
      failed: (error: unknown) => void failures.push(error),
      async stateOf(appId: string) {
        if (appId === app) throw damaged;
        return currentState(world.handle, merchant, appId);
      },
    };
    await round(broken);
    world.clock.advance(collectFor_ms);
    await round(broken);
    assert.deepEqual(
      (await sent()).map(({ to }) => to),
      ['bob@shop.example'],
    );
    assert.ok(failures.includes(damaged), 'the operator reads about it');
  });

  it('do not reach a member who was removed: before the mail is written, and while it waits', async () => {
    await happen(joined('bob'));
    await hold();
    await round();
    await happen({ type: 'MemberRemoved', data: { developerId: 'bob' } });
    assert.deepEqual(
      (await later()).map(({ to }) => to),
      ['ada@shop.example'],
    );

    await happen(joined('bob'));
    await hold();
    await round();
    world.clock.advance(mailEvery_ms);
    await round();
    const waiting = await database.query('SELECT FROM ops.mails');
    assert.equal(waiting.length, 2);
    await happen({ type: 'MemberRemoved', data: { developerId: 'bob' } });
    await fill(database, world.store, workSet, [await wholeLog(world.store)]);
    assert.deepEqual(
      (await sent()).map(({ to }) => to),
      ['ada@shop.example'],
    );
  });

  it('do not reach a former owner who left the team, nor somebody who is only invited', async () => {
    await happen({
      type: 'MemberInvited',
      data: { developerId: 'bob', role: 'developer', expiresAt: instant(Date.UTC(2027, 0)) },
    });
    await hold();
    await round();
    assert.deepEqual(
      (await later()).map(({ to }) => to),
      ['ada@shop.example'],
    );
    await happen({ type: 'OwnerSet', data: { developerId: 'bob' } });
    await hold();
    await round();
    assert.deepEqual(
      (await later()).map(({ to }) => to),
      ['bob@shop.example'],
    );
  });

  it('follow a choice that changes while they wait', async () => {
    await hold();
    await round();
    await happen(chose('ada', { mail: [] }));
    assert.deepEqual(await later(), []);
    assert.deepEqual(await database.query('SELECT FROM ops.notice_mails'), []);
  });

  it('report webhooks only when three failed, and forget fewer', async () => {
    await failWebhook();
    await failWebhook();
    assert.deepEqual(await later(), []);
    assert.deepEqual(await later(), []);
    await failWebhook();
    await round();
    const [mail] = await later();
    assert.match(mail?.text ?? '', /did not accept 3 webhooks/);
    assert.doesNotMatch(mail?.text ?? '', /<b>/);
    await failWebhook();
    assert.deepEqual(await later(), []);
    assert.deepEqual(await later(2 * hour_ms), []);
    assert.deepEqual(await database.query('SELECT FROM ops.notice_mails'), []);
  });

  it('report large payments by each member’s own amount', async () => {
    await happen(
      joined('bob'),
      chose('ada', { mail: ['largePayment'], large_microUsd: '500000000' }),
      chose('bob', { mail: ['largePayment'], large_microUsd: '2000000000' }),
    );
    await large('99.99');
    await large('499.99');
    await large('500.00');
    await round();
    const mails = await later();
    assert.deepEqual(
      mails.map(({ to }) => to),
      ['ada@shop.example'],
    );
    assert.match(mails[0]?.text ?? '', /1 payment is large/);
  });

  it('report the first payment once, and none to an app whose first one is old', async () => {
    await happen(chose('ada', { mail: ['firstPayment'] }));
    await pay(p.done.slice(1));
    await round();
    assert.match((await later())[0]?.text ?? '', /first payment/);
    await pay(p.done.slice(1));
    await round();
    assert.deepEqual(await later(), []);
    await database.query('DELETE FROM ops.notice_firsts');
    world.clock.advance(100 * hour_ms);
    await round();
    assert.deepEqual(await later(), []);
  });

  it('summarize a day and a week once', async () => {
    await happen(chose('ada', { mail: ['dailySummary', 'weeklySummary'], bell: ['dailySummary'] }));
    await pay(p.done.slice(1));
    world.clock.advance(2 * 24 * hour_ms);
    await round();
    const [mail] = await later();
    assert.match(mail?.text ?? '', /On 2026-11-22 \(UTC\): 0 payments paid out, 0\.00 dollars received/);
    const { from } = periodOf('weeklySummary', world.clock.now());
    assert.match(mail?.text ?? '', new RegExp(`In the week from ${from.slice(0, 10)} \\(UTC\\): 1 payment paid out`));
    assert.deepEqual(await later(), []);
    const { notices } = await memberNotices(database, app, 'ada', world.clock.now());
    assert.deepEqual(
      notices.map(({ kind }) => kind),
      ['dailySummary'],
    );
  });

  it('are collected once by a process that dies anywhere, and by two at a time', async () => {
    for (let n = 0; n < 3; n += 1) await hold();
    for (const point of ['BEGIN', 'followers', 'notice_mails']) {
      const dying: MemberNoticesDeps['sql'] = {
        ...database,
        transaction: (body) =>
          database.transaction(async (tx) => {
            const answer = await body({
              query: (text, values) => {
                if (text.includes(point)) throw new Error('killed');
                return tx.query(text, values);
              },
            });
            if (point === 'BEGIN') throw new Error('killed');
            return answer;
          }),
      };
      await assert.rejects(round({ sql: dying }), /killed/);
    }
    const both = await Promise.allSettled([round(), notifyOnce(deps(), new AbortController().signal)]);
    assert.ok(both.some(({ status }) => status === 'fulfilled'));
    await round();
    assert.match((await later())[0]?.text ?? '', /3 payments hold money/);
  });

  it('are listed in the bell of each member, unread until the member marks them', async () => {
    await happen(joined('bob'), chose('bob', { bell: ['largePayment'] }));
    await hold();
    world.clock.advance(minute_ms);
    await large('1000.00');
    for (let n = 0; n < 3; n += 1) await failWebhook();
    await round();
    const now = world.clock.now();
    const ofAda = await memberNotices(database, app, 'ada', now);
    assert.deepEqual(ofAda.notices.map(({ kind, count }) => [kind, count]).toSorted(), [
      ['largePayment', 1],
      ['moneyHeld', 1],
      ['webhookFailing', 3],
    ]);
    assert.deepEqual(
      (await memberNotices(database, app, 'bob', now)).notices.map(({ amount }) => amount),
      ['1000.00'],
    );
    assert.equal(await countUnread(database, app, 'ada', now), 3);
    await markRead(database, app, 'ada', now);
    await markRead(database, app, 'ada', p.minute(0));
    assert.equal(await countUnread(database, app, 'ada', now), 0);
    assert.equal(await countUnread(database, app, 'bob', now), 1);
  });

  it('summarize the last whole day and the last whole week', () => {
    assert.equal(noticeKinds.length, 6);
    const at = (text: string) => instant(Date.parse(text));
    assert.deepEqual(periodOf('dailySummary', at('2026-11-29T05:59:00Z')), {
      from: at('2026-11-27T00:00:00Z'),
      until: at('2026-11-28T00:00:00Z'),
    });
    assert.deepEqual(periodOf('weeklySummary', at('2026-11-30T06:00:00Z')), {
      from: at('2026-11-23T00:00:00Z'),
      until: at('2026-11-30T00:00:00Z'),
    });
  });
});
