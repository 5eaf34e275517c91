/** A merchant creates links in a browser, a payer without scripts opens and pays one, and cashback is withdrawn by a form. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { type Visitor, visitor } from '../support/chromium.ts';
import { historyOf } from '../support/history.ts';
import { codeMailedFromNow } from '../support/mailedCode.ts';
import { scanned } from '../support/qr.ts';
import { createSandbox } from '../support/sandbox.ts';

const program = fileURLToPath(new URL('../../sandbox/cashback.ts', import.meta.url));
const run = promisify(execFile);
const home = '/dashboard/apps/merchant_demo';

describe('reusable links', () => {
  const sandbox = createSandbox({ chains: [8453] });
  let link = '';
  before(async () => {
    assert.equal(await sandbox.start(), 'ready');
  });
  after(() => sandbox.destroy());

  /** Signs in with the mailed code. */
  async function merchant(): Promise<Visitor> {
    const someone = await visitor(sandbox.file().baseUrl);
    const { page } = someone;
    const { demoEmail, mailbox } = sandbox.file();
    const code = codeMailedFromNow(mailbox.folder, { to: demoEmail });
    await page.goto('/dashboard/sign-in');
    await page.getByLabel('E-mail').fill(demoEmail);
    await page.locator('main form button').first().click();
    await sandbox.until(() => code() !== undefined);
    await page.getByLabel(/code/i).fill(code() ?? '');
    await page.locator('main form button').first().click();
    await page.waitForURL(({ pathname }) => !/sign-in|code/.test(pathname));
    return someone;
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name }).click();

  it('are created in the dashboard, with an address to copy and its code', async () => {
    const { page, leave } = await merchant();
    await page.goto(`${home}/links`);
    await page.getByRole('link', { name: 'New reusable link' }).click();
    await page.getByLabel('Title').fill('Roof of the tea house');
    await page.getByLabel('At least').fill('1.00');
    await page.getByLabel('Paid on').selectOption('8453-USDC');
    await press(page, 'Make the link');
    await page.getByText('The link is made').waitFor();
    link = (await page.locator('.share a').first().getAttribute('href')) ?? '';
    assert.match(link, /\/link\/[\w-]{36}$/);
    assert.equal(await scanned(page), link);
    assert.match((await page.getByRole('link', { name: 'Send by mail' }).getAttribute('href')) ?? '', /^mailto:\?/);
    await page.goto(`${home}/links`);
    await page.getByRole('link', { name: 'Roof of the tea house' }).waitFor();
    await leave();
  });

  it('are paid by a payer without scripts, in their language, twice in separate payments', async () => {
    const { page, leave } = await visitor(sandbox.file().baseUrl, {
      javaScriptEnabled: false,
      locale: 'de',
      viewport: { width: 320, height: 640 },
    });
    const ways: string[] = [];
    for (const amount of ['2,50', '3.00']) {
      await page.goto(link);
      await page.getByRole('heading', { name: 'Roof of the tea house' }).waitFor();
      await page.getByLabel('Betrag in Dollar').fill(amount);
      await press(page, 'Weiter zur Zahlung');
      await page.waitForURL(/\/pay\//);
      ways.push(page.url());
    }
    assert.notEqual(ways[0], ways[1]);
    const { body } = await sandbox.call('GET', '/payment-api/payments', { key: sandbox.file().merchant.adminKey });
    assert.equal(body.data.length, 2);
    const [{ id }] = body.data;
    const payment = await sandbox.read(id);
    await sandbox.pay(payment);
    await sandbox.follow(id, ({ status }) => status === 'payment_completed');
    await page.getByRole('heading', { name: 'Bezahlt', exact: true }).waitFor();
    await sandbox.until(() => sandbox.webhooks(id).length === 2);
    const [webhook] = sandbox.webhooks(id);
    assert.match(JSON.parse(webhook?.body ?? '{}').data.orderId, /^link-[0-9a-f]{20}$/);
    await leave();
  });

  it('make one payment of one form, though the service dies before its answer', async () => {
    const opened = await fetch(link);
    const nonce = /name="nonce" value="([^"]+)"/.exec(await opened.text())?.[1] ?? assert.fail('a form has a nonce');
    const path = new URL(link).pathname;
    const send = () => {
      const { baseUrl } = sandbox.file();
      const body = new URLSearchParams({ nonce, amount: '4.00' });
      return patientFetch(`${baseUrl}${path}`, {
        method: 'POST',
        body,
        headers: { origin: baseUrl },
        redirect: 'manual',
      });
    };
    await sandbox.kill();
    await sandbox.start({ CRASH_AT: 'PaymentCreated.afterAppend' });
    await assert.rejects(send());
    await sandbox.ended();
    await sandbox.start();
    const [first, again] = [await send(), await send()];
    assert.match(first.headers.get('location') ?? `${first.status}: ${await first.text()}`, /^\/pay\//);
    assert.equal(again.headers.get('location'), first.headers.get('location'));
  });

  it('are closed after a question, and state it', async () => {
    const { page, leave } = await merchant();
    await page.goto(`${home}/links`);
    await page.getByRole('link', { name: 'Roof of the tea house' }).click();
    await page.getByRole('link', { name: 'Close the link' }).click();
    await press(page, 'Close the link');
    await page.getByText('The link is closed').first().waitFor();
    const answer = await page.goto(`${new URL(link).pathname}?lang=en`);
    assert.equal(answer?.status(), 410);
    await page.getByRole('heading', { name: 'This link is closed' }).waitFor();
    await leave();
  });

  it('earn their payers credit, which the merchant sees and withdraws by a form', async () => {
    const credit = async () =>
      Number((await sandbox.query<{ cents: string }>('SELECT cents FROM credit_accounts'))[0]?.cents ?? 0);
    const created = await sandbox.create({
      appId: sandbox.file().wallet.appId,
      type: 'exactOut',
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: {
        chainId: 8453,
        tokenSymbol: 'USDC',
        amount: '20.00',
        receiverAddress: '0x1111111111111111111111111111111111111111',
      },
    });
    await sandbox.pay(created.body);
    await sandbox.until(async () => (await credit()) >= 20);
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    await run(process.execPath, [program, 'sign', '--to', 'demo', '--cents', '15', '--about', 'Two scones', '--send'], {
      env,
    });
    const { page, leave } = await merchant();
    await sandbox.until(async () => {
      await page.goto(`${home}/cashback`);
      return (await page.getByText('Two scones').count()) > 0 && (await page.getByText('0.15').count()) > 0;
    });
    await page.getByLabel('Amount in dollars').fill('0.99');
    await press(page, 'Go on');
    await page.getByText('more than the balance').first().waitFor();
    await page.getByLabel('Amount in dollars').fill('0.12');
    await press(page, 'Go on');
    await page.getByRole('heading', { name: 'Withdraw 0.12 USD?' }).waitFor();
    await press(page, 'Withdraw');
    await page.getByText('The withdrawal is on its way').waitFor();
    const paymentId = page.url().split('/').at(-1) ?? '';
    await sandbox.follow(paymentId, ({ status }) => status === 'payment_payout_completed');
    await page.goto(`${home}/cashback`);
    assert.match((await page.locator('main').textContent()) ?? '', /0\.03.*−0\.12/s);
    await leave();
  });

  it('are in the log once', async () => {
    await sandbox.stop();
    const streams = [...(await historyOf(sandbox.dataDir))];
    const types = (kind: RegExp) =>
      streams.filter(([stream]) => kind.test(stream)).flatMap(([, events]) => events.map(({ type }) => type));
    assert.deepEqual(types(/^link-/), ['LinkCreated', 'LinkClosed']);
    assert.equal(types(/^cashback-/).filter((type) => type === 'CashbackWithdrawn').length, 1);
    assert.equal(types(/^payment-/).filter((type) => type === 'PaymentCreated').length, 5);
  });
});
