/** An unknown person registers, accepts payments and reads them, in a real browser and by the API alone. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { verifyWebhook } from '../../../sandbox/verifyWebhook.ts';
import { type Visitor, visitor } from '../../support/chromium.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { mailedCode } from '../../support/mailedCode.ts';
import type { Json, Webhook } from '../../support/sandbox.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const order = (orderId: string): Json => ({
  orderId,
  type: 'exactOut',
  display: { title: `Tea ${orderId}`, currency: 'USD' },
  source: { chainId: 1, tokenSymbol: 'USDC' },
  destination: { amount: '12.00' },
});

describe('a merchant that begins with nothing', () => {
  const sandbox = sharedSandbox();
  let beside: Instance;
  before(async () => {
    await startSharedSandbox();
    beside = await startInstance(sandbox.dataDir, { ROLES: 'api' });
  });
  after(() => beside.kill());

  async function codeFor(to: string): Promise<string> {
    const code = () => mailedCode(sandbox.file().mailbox.folder, { to });
    await sandbox.until(() => code() !== undefined);
    return code() ?? assert.fail('no code was mailed');
  }

  /** Stores a secret like a merchant: its server uses it from then on. */
  function keepSecret(secret: string): void {
    const file = join(sandbox.dataDir, 'webhook', 'secrets.json');
    const known = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...known, [`of test ${Object.keys(known).length}`]: secret }));
  }

  const verifies = ({ headers, body, receivedAt }: Webhook, secret: string): boolean => {
    const sent = { timestamp: headers['x-service-timestamp'], signature: headers['x-service-signature'] };
    return verifyWebhook(sent, Buffer.from(body), [secret], Date.parse(receivedAt)) === 'valid';
  };

  async function bothWebhooks(paymentId: string): Promise<Webhook[]> {
    await sandbox.until(() => sandbox.webhooks(paymentId).length === 2);
    return sandbox.webhooks(paymentId);
  }

  /** Checks that both instances refuse the key as soon as one of them has confirmed its revocation. */
  async function isRefusedEverywhere(key: string): Promise<void> {
    for (const url of [sandbox.file().baseUrl, beside.url]) {
      const { status } = await fetch(`${url}/payment-api/payments/order/x/y`, { headers: { 'x-api-key': key } });
      assert.equal(status, 401, url);
    }
  }

  async function isTakenEverywhere(key: string, appId: string): Promise<void> {
    for (const url of [sandbox.file().baseUrl, beside.url]) {
      const path = `/payment-api/payments/order/${appId}/none`;
      const { status } = await fetch(`${url}${path}`, { headers: { 'x-api-key': key } });
      assert.equal(status, 404, url);
    }
  }

  describe('in a browser', () => {
    const email = 'ada@teahouse.example';
    const appId = 'merchant_teahouse';
    const home = `/dashboard/apps/${appId}`;
    let ada: Visitor;
    let page: Page;
    let secret = '';
    let key = '';
    let paymentId = '';
    before(async () => {
      ada = await visitor(sandbox.file().baseUrl);
      page = ada.page;
    });
    after(() => ada.leave());

    const textOf = async (selector: string) => (await page.locator(selector).textContent()) ?? '';
    const once = () => textOf('.secret code');
    const press = (name: string | RegExp) => page.getByRole('button', { name }).click();

    it('proves the e-mail with the mailed code', async () => {
      await page.goto('/');
      await page
        .getByRole('link', { name: /register/i })
        .first()
        .click();
      await page.getByLabel('E-mail').fill(email);
      await press('Mail me a code');
      await page.getByLabel('Code').fill('000000');
      await press('Go on');
      await page.getByText(/tries/).waitFor();
      await page.getByLabel('Code').fill(await codeFor(email));
      await press('Go on');
    });

    it('names the app, sets its wallet, and has access', async () => {
      await page.getByLabel('Name of your shop or app').fill('Tea House');
      await page.getByRole('radio', { name: /a shop/i }).check();
      await page.getByLabel('Short name').fill('teahouse');
      await press('Register');
      await page.waitForURL(`**${home}/settlement`);
      await page.getByLabel('Chain').selectOption('8453');
      await page.getByLabel('Address').fill(wallet);
      await page.locator('main form').getByRole('button').first().click();
      await page.getByText('The settlement wallet is saved.').waitFor();
      await page.goto(`${home}/`);
      assert.match(await textOf('main'), /Overview/);
    });

    it('sets the webhook URL, and gets the secret', async () => {
      await page.goto(`${home}/webhooks`);
      const form = page.locator('form').filter({ has: page.getByLabel('Webhook URL') });
      await form.getByLabel('Webhook URL').fill(sandbox.file().webhook.url);
      await form.getByRole('button', { name: 'Save' }).click();
      secret = await once();
      assert.match(secret, /^[0-9a-f]{64}$/);
      keepSecret(secret);
    });

    it('makes a test payment without a key: the sandbox pays it, and its webhooks are accepted', async () => {
      await page.goto(`${home}/`);
      await page.getByRole('link', { name: 'Make a test payment' }).click();
      await press('Make a test payment');
      await page.waitForURL(/\/payments\/[0-9a-f-]{36}$/);
      const id = page.url().split('/').at(-1) ?? '';
      await page.locator('h1').getByText('Completed').waitFor();
      const webhooks = await bothWebhooks(id);
      assert.ok(webhooks.every((webhook) => verifies(webhook, secret)));
      await page.goto(`${home}/webhooks?state=delivered&payment=${id}`);
      await page.getByText('Taken, 200').first().waitFor();
      await page.goto(`${home}/events`);
      assert.ok((await page.getByRole('row').count()) > 5);
    });

    it('issues an Orders key, which is shown once', async () => {
      await page.getByRole('link', { name: 'API keys' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Shop server');
      await page.getByRole('radio', { name: /orders/i }).check();
      await press('Issue the key');
      key = await once();
      await page.goto(`${home}/keys`);
      assert.equal(await page.getByText(key).count(), 0);
      assert.equal((await page.content()).includes(key), false);
      await isTakenEverywhere(key, appId);
    });

    it('sees a payment appear in the list, and become paid, without touching the page', async () => {
      await page.goto(`${home}/payments`);
      const live = page.waitForResponse((answer) => answer.url().endsWith('/live'));
      await page.reload();
      await live;
      const created = await sandbox.create(order('A-1'), key);
      assert.equal(created.status, 201, JSON.stringify(created.body));
      paymentId = created.body.id;
      const row = page.getByRole('row').filter({ hasText: 'A-1' });
      await row.waitFor();
      await sandbox.pay(created.body);
      await row.getByText('Completed').waitFor();
    });

    it('reads the payment’s story, and both deliveries', async () => {
      const [first, second] = await bothWebhooks(paymentId);
      assert.ok(first && second && verifies(first, secret) && verifies(second, secret));
      await page.getByRole('row').filter({ hasText: 'A-1' }).getByRole('link').first().click();
      await page.waitForURL(`**${home}/payments/${paymentId}`);
      const text = await textOf('main');
      for (const told of [/12\.00/, /Base/, /Ethereum/, /payment_payin_completed/, /payment_payout_completed/]) {
        assert.match(text, told);
      }
      await page.goto(`${home}/requests`);
      await page.getByRole('row').filter({ hasText: '/payment-api/payments' }).filter({ hasText: '201' }).waitFor();
    });

    it('rotates the secret: the next webhook verifies with the new one only', async () => {
      await page.goto(`${home}/webhooks/rotate`);
      await page.locator('main form button').click();
      const next = await once();
      assert.match(next, /^[0-9a-f]{64}$/);
      assert.notEqual(next, secret);
      keepSecret(next);
      const { body } = await sandbox.create(order('A-2'), key);
      await sandbox.pay(body);
      for (const webhook of await bothWebhooks(body.id)) {
        assert.deepEqual([verifies(webhook, next), verifies(webhook, secret)], [true, false]);
      }
      await page.goto(`${home}/webhooks`);
      assert.equal((await page.content()).includes(next), false);
    });

    it('makes a payment by form, and gets its address and amount', async () => {
      await page.goto(`${home}/links/new`);
      await page
        .getByLabel(/amount/i)
        .first()
        .fill('5.00');
      await page.getByLabel(/order/i).first().fill('A-3');
      await page.locator('main form button').last().click();
      await page.waitForURL(/\/payments\/[0-9a-f-]{36}$/);
      assert.match(await textOf('main'), /0x[0-9a-fA-F]{4}/);
    });

    it('exports the list', async () => {
      const answer = await page.request.get(`${home}/payments.csv`);
      assert.equal(answer.status(), 200);
      assert.match(answer.headers()['content-type'] ?? '', /^text\/csv/);
      assert.match(await answer.text(), /A-1/);
    });

    it('opens every page; none violates its policy, and no secret is in the service’s log', async () => {
      const pages = [
        '/',
        '/payments',
        '/links/new',
        '/webhooks',
        '/keys',
        '/settlement',
        '/branding',
        '/embedding',
        '/audit',
        '/requests',
        '/events',
        '/events.json',
        '/webhooks/again',
        '/test-payment',
      ];
      for (const path of [...pages.map((each) => home + each), '/dashboard/sessions', '/dashboard?choose=yes']) {
        assert.equal((await page.goto(path))?.status(), 200, path);
      }
      await page.goto(`${home}/webhooks`);
      await page.getByRole('table').getByRole('link').first().click();
      await page.waitForURL(/\/webhooks\/[0-9a-f-]{36}$/);
      for (const shown of [key, secret]) assert.equal(sandbox.printed().includes(shown), false);
    });

    it('revokes the key: no instance accepts it any more', async () => {
      await page.goto(`${home}/keys`);
      await page
        .getByRole('link', { name: /revoke/i })
        .first()
        .click();
      await page.locator('main form button').click();
      await page.waitForURL(`**${home}/keys`);
      await isRefusedEverywhere(key);
    });

    it('signs out, and the back button opens nothing', async () => {
      await page.goto('/dashboard/sessions');
      await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL('**/dashboard/sign-in');
      await page.goBack();
      await page.goto(`${home}/`);
      await page.waitForURL('**/dashboard/sign-in?**');
    });
  });

  describe('by calls alone', () => {
    const email = 'grace@coffee.example';
    const appId = 'merchant_coffee';
    let token = '';
    let secret = '';
    let key = { keyId: '', key: '' };

    const asOwner = (method: string, path: string, body?: Json) =>
      sandbox.call(method, path, { headers: { authorization: `Bearer ${token}` }, ...(body && { body }) });

    it('registers, and proves the e-mail with the mailed code', async () => {
      const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: wallet };
      const webhookUrl = sandbox.file().webhook.url;
      const body = { email, displayName: 'Coffee', kind: 'merchant', slug: 'coffee', settlement, webhookUrl };
      const registered = await sandbox.call('POST', '/merchant-api/register', { body });
      assert.deepEqual([registered.status, registered.body.appId], [201, appId], JSON.stringify(registered.body));
      secret = registered.body.webhookSecret;
      keepSecret(secret);
      const proof = { challenge: registered.body.challenge, code: await codeFor(email) };
      const proved = await sandbox.call('POST', '/merchant-api/sign-in/verify', { body: proof });
      assert.equal(proved.status, 200, JSON.stringify(proved.body));
      token = proved.body.token;
    });

    it('issues an Orders key, creates a payment with it, and lists it with both deliveries', async () => {
      const issued = await asOwner('POST', '/merchant-api/me/keys', { name: 'Till', scope: 'orders' });
      assert.equal(issued.status, 201, JSON.stringify(issued.body));
      key = issued.body;
      const { body: payment } = await sandbox.create(order('B-1'), key.key);
      await sandbox.pay(payment);
      const webhooks = await bothWebhooks(payment.id);
      assert.ok(webhooks.every((webhook) => verifies(webhook, secret)));
      const path = `/merchant-api/me/webhook/deliveries?paymentId=${payment.id}`;
      await sandbox.until(async () => (await asOwner('GET', path)).body.data?.length === 2);
      const { body: feed } = await asOwner('GET', '/payment-api/events');
      assert.ok(feed.data.length > 0 && feed.data.every((event: Json) => event['paymentId'] === payment.id));
    });

    it('rotates the secret: the next webhook verifies with the new one only', async () => {
      const { body: rotated } = await asOwner('POST', '/merchant-api/me/webhook/rotate');
      keepSecret(rotated.webhookSecret);
      const { body: payment } = await sandbox.create(order('B-2'), key.key);
      await sandbox.pay(payment);
      for (const webhook of await bothWebhooks(payment.id)) {
        assert.deepEqual([verifies(webhook, rotated.webhookSecret), verifies(webhook, secret)], [true, false]);
      }
    });

    it('revokes the key: no instance accepts it any more', async () => {
      await isTakenEverywhere(key.key, appId);
      const revoked = await asOwner('POST', `/merchant-api/me/keys/${key.keyId}/revoke`);
      assert.equal(revoked.status, 200, JSON.stringify(revoked.body));
      await isRefusedEverywhere(key.key);
    });

    it('signs out: no instance accepts the token any more', async () => {
      assert.equal((await asOwner('POST', '/merchant-api/sign-out')).status, 200);
      for (const url of [sandbox.file().baseUrl, beside.url]) {
        const headers = { authorization: `Bearer ${token}` };
        assert.equal((await fetch(`${url}/merchant-api/sessions`, { headers })).status, 401);
      }
    });
  });
});
