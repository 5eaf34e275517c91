/** Notifications as a member sees them: chosen in the dashboard, a flood in one mail, counted by the bell until they are read. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { currentState } from '../../commands/handle.ts';
import { createManageMerchant, type ManageMerchant } from '../../commands/manageMerchant.ts';
import { merchant } from '../../domain/merchant/state.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { reportsSet, workSet } from '../../projections/sets.ts';
import { createOutbox, type Mail } from '../../src/accounts/outbox.ts';
import { noticesOf } from '../../src/api/index.ts';
import type { Database } from '../../src/postgres/database.ts';
import { randomIds } from '../../src/process/system.ts';
import { refuseSetBack } from '../../src/readmodels/logSetBack.ts';
import { createSecretBox } from '../../src/security/masterKey.ts';
import { collectFor_ms, notifyOnce } from '../../src/workers/accounts/memberNotices.ts';
import { startWorld, type World } from '../api/world.ts';
import { type Visitor, visitor } from '../support/chromium.ts';
import { append, createWorld, type World as Log, paymentIdOf } from '../support/histories.ts';
import { obstacles, standingOut } from '../support/obstacles.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

const appId = 'wallet_demo';
const developerId = 'ann';
const email = 'ann@shop.example';
const flood = 30;

describe('notifications in a browser', () => {
  let database: Database;
  let log: Log;
  let world: World;
  let ann: Visitor;
  let page: Page;
  before(async () => {
    database = await freshDatabase();
    log = createWorld();
    const registered = { appId, developerId, idSalt: '00'.repeat(32), registeredAt: p.minute(0) };
    await append(log, `merchant-${appId}`, [{ type: 'MerchantRegistered', data: registered }]);
    await database.query(
      'INSERT INTO ops.people (developer_id, email, proved_at, mentioned_at) VALUES ($1, $2, $3, $3)',
      [developerId, email, p.minute(0)],
    );
    await round();
    const notices = noticesOf({ reads: database, writes: database, clock: log.clock });
    world = await startWorld({ notices, merchants: commands(), shown: project });
    ann = await visitor(world.url, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
    page = ann.page;
    await page.context().setExtraHTTPHeaders({ cookie: `__Host-session=${developerId}.session.token` });
  });
  after(async () => {
    await ann.leave();
    await world.stop();
  });

  const commands = (): ManageMerchant =>
    createManageMerchant({
      ...{ handle: log.handle, clock: log.clock, ids: randomIds },
      newKey: () => assert.fail('nobody issues a key'),
      revokedKeys: { add: async () => {}, unconfirmed: async () => [] },
      profiles: { keep: async () => {}, find: async () => null, keepLogo: async () => {} } as never,
      readLogo: () => assert.fail('nobody sets a logo'),
      settlementCoolDown_ms: 0,
      localSites: false,
      seal: (plain) => `sealed ${plain.length}`,
      canonicalAddress: () => undefined,
      canReceive: {},
      offers: () => true,
      isAllowedTarget: () => true,
    });

  async function project(): Promise<void> {
    const events = await wholeLog(log.store);
    for (const set of [workSet, reportsSet]) await fill(database, log.store, set, [events]);
  }

  const box = createSecretBox(randomBytes(32));
  const outbox = () => createOutbox({ sql: database, box, clock: log.clock, ids: randomIds });
  /** Updates the read models and runs the worker of notifications once. */
  async function round(): Promise<void> {
    await project();
    const deps = {
      ...{ store: log.store, sql: database, outbox: outbox(), clock: log.clock },
      stateOf: (of: string) => currentState(log.handle, merchant, of),
      dashboard: 'https://pay.example/dashboard',
      recognizeLog: (signal: AbortSignal) => refuseSetBack(database, log.store, { signal }),
      failed: (error: unknown) => assert.fail(String(error)),
    };
    await notifyOnce(deps, new AbortController().signal);
  }
  async function mailsAfter(duration_ms: number): Promise<readonly Mail[]> {
    log.clock.advance(duration_ms);
    await round();
    const mails = await Promise.all((await outbox().due(100, log.clock.now())).map((id) => outbox().open(id)));
    return mails.filter((mail) => mail !== null);
  }

  async function holdMoney(number: number): Promise<void> {
    const paymentId = paymentIdOf(number);
    const late = p.payin({ tx: 'late', at: p.minute(70) });
    const created = p.created();
    await append(log, `payment-${paymentId}`, [
      { ...created, data: { ...created.data, paymentId } } as PaymentEvent,
      ...[p.expired(), p.detected(late), p.confirmed(late), p.bounced('latePayin', '10.01')],
    ]);
  }

  const home = `/dashboard/apps/${appId}`;
  /** Sends a form, and opens the page in another tab, because this one still follows the answer. */
  async function send(button: string): Promise<void> {
    const answered = page.waitForResponse((answer) => answer.request().method() === 'POST');
    await page.getByRole('button', { name: button }).click();
    assert.equal((await answered).status(), 303);
    await page.close();
    page = await ann.newTab();
    await page.goto(`${home}/notifications`);
  }
  const bell = () => page.getByRole('banner').locator('.bell');

  it('are chosen one by one, and the choice is kept', async () => {
    await page.goto(`${home}/notifications`);
    const largeByMail = page.getByLabel('Large payment, by mail');
    assert.equal(await largeByMail.isChecked(), false);
    await largeByMail.check();
    await page.getByLabel('Webhooks fail, in the dashboard').uncheck();
    await send('Save');
    assert.equal(await page.getByLabel('Large payment, by mail').isChecked(), true);
    assert.equal(await page.getByLabel('Webhooks fail, in the dashboard').isChecked(), false);
    assert.equal(await page.getByLabel('Money held, by mail').isChecked(), true);
    assert.equal(await bell().count(), 0, 'no bell without unread notifications');
  });

  it('share one mail in a flood, and are counted by the bell', async () => {
    for (let number = 1; number <= flood; number += 1) await holdMoney(number);
    await round();
    const mails = await mailsAfter(collectFor_ms);
    assert.deepEqual(
      mails.map(({ to }) => to),
      [email],
    );
    assert.match(mails[0]?.text ?? '', new RegExp(`${flood} payments hold money`));
    await page.goto(`${home}/`);
    assert.match((await bell().textContent()) ?? '', new RegExp(`^\\s*${flood}\\b`));
  });

  it('are listed behind the bell until they are marked as read', async () => {
    await bell().click();
    await page.waitForURL(`**${home}/notifications`);
    assert.equal(await page.getByText('A payment holds 10.01 USDC').count(), flood);
    assert.equal(await page.locator('.chip', { hasText: 'New' }).count(), flood);
    assert.deepEqual(await obstacles(page), []);
    assert.deepEqual(await standingOut(page), []);
    await send('Mark all as read');
    assert.equal(await bell().count(), 0);
    assert.equal(await page.locator('.chip', { hasText: 'New' }).count(), 0);
    assert.equal(await page.getByText('A payment holds 10.01 USDC').count(), flood, 'they stay in the list');
  });
});
