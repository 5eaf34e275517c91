/** Settings that owners change in the dashboard: a secret appears once, in the answer itself; an error appears beside its field. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import pino from 'pino';
import { pictureMax_bytes } from '../../commands/ports.ts';
import { Jar, type PageAnswered } from './desk.ts';
import { startWorld, type World } from './world.ts';

const home = '/dashboard/apps/wallet_demo';
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe('HTTP: settings in the dashboard', () => {
  let world: World;
  let ann: Jar;
  const logged: string[] = [];
  beforeEach(async () => {
    logged.length = 0;
    const logger = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
    world = await startWorld({ logger });
    ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
  });
  afterEach(() => world.stop());

  const settings = async () => (await world.people.getSettings('wallet_demo')) ?? assert.fail('there is no such app');
  /** Follows a POST like a browser. */
  async function done(answer: PageAnswered, to: string, told: RegExp): Promise<void> {
    assert.deepEqual([answer.status, answer.to], [303, to], answer.text);
    assert.match((await ann.get(to)).text, told);
  }

  describe('a secret that is shown once', () => {
    const shows: readonly (readonly [what: string, path: string, Record<string, string>, RegExp])[] = [
      ['an API key', `${home}/keys`, { name: 'Shop', scope: 'orders' }, /pi_[A-Za-z0-9_]{30,}/],
      ['a rotated secret', `${home}/webhooks/rotate`, {}, /\b[0-9a-f]{64}\b(?<!sha256:.{64})/],
    ];
    for (const [what, path, fields, secretIn] of shows) {
      it(`${what} is in one answer that is cached nowhere, and in no page, URL, cookie or log`, async () => {
        const answer = await ann.post(path, fields);
        assert.equal(answer.status, 200, answer.text);
        const [secret] = secretIn.exec(answer.text) ?? assert.fail(`no secret in ${answer.text}`);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assert.equal(answer.to, null);
        assert.equal(answer.headers.getSetCookie().join().includes(secret), false);
        for (const page of [`${home}/keys`, `${home}/webhooks`, `${home}/audit`, `${home}/`, path]) {
          assert.equal((await ann.get(page)).text.includes(secret), false, page);
        }
        assert.notEqual(logged.length, 0);
        assert.equal(logged.join('').includes(secret), false);
      });
    }

    it('the secret of the first webhook URL is new, in that answer alone; another URL makes none', async () => {
      const { merchants, getSettings } = world.people;
      const fresh = 'merchant_fresh';
      await merchants.register(fresh, { developerId: 'ann', webhookUrl: null }, { cause: 'operator:spec' });
      const url = `/dashboard/apps/${fresh}/webhooks/url`;
      assert.equal((await ann.post(url, { webhookUrl: 'http://shop.example' })).status, 400);
      const before = await getSettings(fresh);
      const first = await ann.post(url, { webhookUrl: 'https://shop.example/a' });
      const [secret] = /\b[0-9a-f]{64}\b(?<!sha256:.{64})/.exec(first.text) ?? assert.fail(first.text);
      const after = await getSettings(fresh);
      assert.equal(after?.webhookUrl, 'https://shop.example/a');
      assert.notEqual(after?.webhookSecretFingerprint, before?.webhookSecretFingerprint);
      assert.equal(after?.webhookSecretFingerprint, `sha256:${createHash('sha256').update(secret).digest('hex')}`);
      assert.equal((await ann.post(url, { webhookUrl: 'https://shop.example/b' })).status, 303);
      assert.equal((await getSettings(fresh))?.webhookSecretFingerprint, after?.webhookSecretFingerprint);
      assert.doesNotMatch((await ann.get(`/dashboard/apps/${fresh}/webhooks`)).text, new RegExp(secret));
      assert.equal(logged.join('').includes(secret), false);
    });

    it('an e-mail address and a session’s token are in no log', async () => {
      await ann.post('/dashboard/sign-in', { email: 'ada@example.org' });
      await ann.get(`${home}/keys`);
      assert.doesNotMatch(logged.join(''), /ada@example\.org|session\.token/);
    });
  });

  describe('keys', () => {
    it('are issued with an end, renamed and revoked', async () => {
      assert.equal((await ann.post(`${home}/keys`, { name: 'Shop', scope: 'admin', expiresInDays: '30' })).status, 200);
      const [key] = await world.people.listKeys('wallet_demo');
      assert.ok(key?.expiresAt);
      const mine = `${home}/keys/${key.keyId}`;
      await done(await ann.post(`${mine}/rename`, { name: 'Till' }), `${home}/keys`, /Till/);
      assert.match((await ann.get(`${mine}/revoke`)).text, /Till/);
      await done(await ann.post(`${mine}/revoke`), `${home}/keys`, /The key is revoked/);
      assert.equal((await ann.get(`${mine}/revoke`)).status, 404);
    });

    it('need a name and a scope', async () => {
      const answer = await ann.post(`${home}/keys`, { scope: 'root' });
      assert.equal(answer.status, 400);
      assert.match(answer.text, /Name is required\./);
      assert.match(answer.text, /Permissions must be one of orders, admin\./);
      assert.deepEqual(await world.people.listKeys('wallet_demo'), []);
    });
  });

  it('a webhook endpoint is added, changed and removed; its secret is in one answer alone', async () => {
    const page = `${home}/webhooks`;
    const refused = await ann.post(`${page}/endpoints`, { url: 'https://10.0.0.1/', payment_held: 'true' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /URL must be publicly reachable/);
    assert.match(refused.text, /10\.0\.0\.1/, 'the entered URL is still there');
    assert.equal((await ann.post(`${page}/endpoints`, { url: 'https://books.example/' })).status, 400, 'no type');

    const added = await ann.post(`${page}/endpoints`, { url: 'https://books.example/', payment_held: 'true' });
    const secretIn = (text: string) => /\b[0-9a-f]{64}\b(?<!sha256:.{64})/.exec(text)?.[0] ?? assert.fail('a secret');
    const secret = secretIn(added.text);
    const [endpoint] = (await settings()).webhookEndpoints;
    assert.ok(endpoint);
    assert.deepEqual(endpoint.types, ['payment_held']);
    const one = `${page}/endpoints/${endpoint.endpointId}`;
    await done(await ann.post(`${one}/types`, { payment_refunded: 'true' }), page, /books\.example/);
    assert.deepEqual((await settings()).webhookEndpoints[0]?.types, ['payment_refunded']);
    const tested = await ann.post(`${one}/test`, {});
    assert.match(tested.to ?? '', new RegExp(`^${page}/[0-9a-f-]{36}$`));
    const rotated = secretIn((await ann.post(`${one}/rotate`, {})).text);
    assert.notEqual(rotated, secret);
    const after = await ann.get(page);
    for (const each of [secret, rotated]) assert.ok(!after.text.includes(each));
    await done(await ann.post(`${one}/remove`, {}), page, /Further endpoints/);
    assert.deepEqual((await settings()).webhookEndpoints, []);
    assert.equal((await ann.post(`${one}/remove`, {})).status, 404);
  });

  it('the webhook URL is set and removed; an invalid one is refused beside its field', async () => {
    const page = `${home}/webhooks`;
    await done(await ann.post(`${page}/url`, { webhookUrl: 'https://tea.example/hooks' }), page, /tea\.example/);
    for (const webhookUrl of ['http://tea.example/hooks', 'https://127.0.0.1/hooks', 'no url']) {
      const answer = await ann.post(`${page}/url`, { webhookUrl });
      assert.equal(answer.status, 400, webhookUrl);
      assert.ok(answer.text.includes(webhookUrl), 'what was entered is still there');
    }
    assert.equal((await settings()).webhookUrl, 'https://tea.example/hooks');
    await done(await ann.post(`${page}/remove`), page, /removed/);
    assert.equal((await settings()).webhookUrl, null);
  });

  it('the first wallet is in force at once, another one waits and can be cancelled', async () => {
    const page = `${home}/settlement`;
    const wallet = { chainId: '8453', tokenSymbol: 'USDC', receiverAddress: address };
    await done(await ann.post(page, wallet), page, /is saved/);
    const other = { ...wallet, chainId: '1' };
    await done(await ann.post(page, other), page, /takes effect after the waiting time/);
    assert.ok((await settings()).settlementChange);
    assert.equal((await settings()).settlement?.chainId, 8453);
    await done(await ann.post(`${page}/cancel`), page, /cancelled/);
    assert.equal((await settings()).settlementChange, null);
    assert.equal((await ann.post(`${page}/cancel`)).status, 409);
  });

  it('an invalid wallet is refused beside its field', async () => {
    const answer = await ann.post(`${home}/settlement`, {
      chainId: '8453',
      tokenSymbol: 'USDC',
      receiverAddress: '0x12',
    });
    assert.equal(answer.status, 400);
    assert.ok(answer.text.includes('0x12'));
    assert.equal((await settings()).settlement, null);
  });

  it('branding is saved, and a field that was emptied is unset', async () => {
    const page = `${home}/branding`;
    await done(await ann.post(page, { name: 'Tea <House>', colour: '#2f6f4f' }), page, /The branding is saved/);
    assert.match((await ann.get(page)).text, /Tea &lt;House/);
    await ann.post(page, { name: 'Tea' });
    assert.deepEqual([(await settings()).profile.name, (await settings()).profile.colour], ['Tea', null]);
    assert.equal((await ann.post(page, { colour: 'green' })).status, 400);
  });

  it('branding has a link that opens the saved return URL with an example order, also after a refused form', async () => {
    const page = `${home}/branding`;
    const link = (text: string) => /<a href="([^"]*)"[^>]*>Open the saved URL/.exec(text);
    await done(await ann.post(page, { name: 'Tea' }), page, /The branding is saved/);
    assert.equal(link((await ann.get(page)).text), null);
    const returnUrlTemplate = 'https://tea.example/{orderId}/{status}?id={paymentId}';
    await done(await ann.post(page, { returnUrlTemplate }), page, /The branding is saved/);
    const [tag, url] = link((await ann.get(page)).text) ?? [];
    assert.equal(url, 'https://tea.example/A-1042/payment_completed?id=00000000-0000-8000-8000-000000000000');
    assert.match(tag ?? '', /rel="noopener noreferrer" target="_blank"/);
    const refused = await ann.post(page, { returnUrlTemplate: 'javascript:alert(1)' });
    assert.deepEqual([refused.status, link(refused.text)?.[1]], [400, url]);
    await done(await ann.post(page, { name: 'Tea' }), page, /The branding is saved/);
  });

  it('the preview of the branding is framed by our own pages only, runs nothing, and has no address to pay to', async () => {
    const query = new URLSearchParams({ name: '<script>alert(1)</script>', colour: '#2f6f4f' });
    const { status, headers, text } = await ann.get(`${home}/branding/preview?${query}`);
    const policy = headers.get('content-security-policy') ?? '';
    assert.deepEqual([status, headers.get('x-frame-options')], [200, null]);
    assert.match(policy, /frame-ancestors 'self'/);
    assert.match(policy, /script-src 'none'/);
    assert.match(policy, /form-action 'none'/);
    assert.match(text, /&lt;script>alert|&lt;script&gt;alert/);
    assert.match(text, /\/colours\/2f6f4f\.css/);
    assert.equal(
      /0x[0-9a-f]*[1-9a-f][0-9a-f]{8}/i.test(
        text.replaceAll(/<code.*?<\/code>/gs, '').replaceAll(/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913/gi, ''),
      ),
      false,
    );
    const page = await ann.get(`${home}/branding`);
    assert.equal(page.headers.get('x-frame-options'), 'DENY');
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /frame-src 'self'.*frame-ancestors 'none'|frame-ancestors 'none'.*frame-src 'self'/,
    );
    assert.equal((await ann.get(`${home}/branding/preview?colour=red;}`)).status, 200);
  });

  it('the preview of the branding and the monthly report are in the reader’s language', async () => {
    for (const path of ['/branding/preview', '/reports/month?month=2026-10'])
      for (const [language, start] of [
        ['de', '<html lang="de"'],
        ['ar', '<html lang="ar" dir="rtl"'],
      ] as const) {
        const { status, text } = await ann.ask('GET', `${home}${path}`, { headers: { 'accept-language': language } });
        assert.equal(status, 200, path);
        assert.ok(text.includes(start), `${path} in ${language}`);
      }
  });

  it('branding with several wrong fields names all of them at once, by their labels', async () => {
    const wrong = { colour: 'green', supportContact: 'nobody', returnUrlTemplate: 'http://shop.example/thanks' };
    const answer = await ann.post(`${home}/branding`, wrong);
    assert.equal(answer.status, 400);
    for (const said of [
      'Colour must be of the form #rrggbb.',
      'Support contact must be an e-mail address or an https URL.',
      'Return URL must start with https:// and a host.',
    ])
      assert.ok(answer.text.includes(said), said);
  });

  it('a logo is a picture of some size, one, and alone', async () => {
    const page = `${home}/branding/logo`;
    const send = (parts: readonly (readonly [string, Blob | string])[]) => {
      const body = new FormData();
      for (const [name, part] of parts) {
        if (typeof part === 'string') body.append(name, part);
        else body.append(name, part, 'logo.png');
      }
      return ann.ask('POST', page, { body, headers: { origin: world.url } });
    };
    const square = await import('sharp').then(({ default: sharp }) =>
      sharp({ create: { width: 40, height: 40, channels: 3, background: '#2f6f4f' } })
        .png()
        .toBuffer(),
    );
    const picture = new Blob([new Uint8Array(square)], { type: 'image/png' });
    await done(await send([['logo', picture]]), `${home}/branding`, /The logo is saved/);
    assert.ok((await settings()).profile.logo);
    assert.equal((await send([['logo', new Blob(['<svg onload=alert(1)>'])]])).status, 400);
    assert.equal((await send([])).status, 400);
    assert.equal(
      (
        await send([
          ['logo', picture],
          ['logo', picture],
        ])
      ).status,
      400,
    );
    assert.equal((await send([['other', picture]])).status, 400);
    assert.equal(
      (
        await send([
          ['logo', picture],
          ['more', 'x'],
        ])
      ).status,
      400,
    );
    assert.equal((await send([['logo', new Blob([new Uint8Array(pictureMax_bytes + 100_000)])]])).status, 413);
    assert.equal((await ann.post(page, { logo: 'x' })).status, 415);
    await done(await ann.post(`${page}/remove`), `${home}/branding`, /The logo is removed/);
  });

  it('a payment made by form leads to its page; its errors appear in the form', async () => {
    const payment = {
      amount: '5.00',
      sourceChainId: '8453',
      sourceTokenSymbol: 'USDC',
      destinationChainId: '1',
      destinationTokenSymbol: 'USDC',
      receiverAddress: address,
      orderId: 'by-form',
    };
    const made = await ann.post(`${home}/links/new`, payment);
    assert.equal(made.status, 303, made.text);
    assert.match(made.to ?? '', /^\/dashboard\/apps\/wallet_demo\/payments\/[0-9a-f-]{36}$/);
    assert.equal((await ann.post(`${home}/links/new`, payment)).to, made.to, 'the same order is the same payment');
    const wrong = await ann.post(`${home}/links/new`, { ...payment, orderId: 'other', receiverAddress: '0x12' });
    assert.equal(wrong.status, 400);
    assert.ok(wrong.text.includes('by-form') === false && wrong.text.includes('0x12'));
    assert.equal((await ann.post(`${home}/links/new`, { ...payment, amount: 'ten' })).status, 400);
  });

  it('the owner learns the authors of changes, by name only if they are members', async () => {
    await world.people.merchants.setWebhookUrl('wallet_demo', 'https://op.example/h', { cause: 'operator:root' });
    await ann.post(`${home}/keys`, { name: 'Shop', scope: 'orders' });
    const { text } = await ann.get(`${home}/audit`);
    assert.match(text, /the operator/);
    assert.doesNotMatch(text, /operator:root|developer:/);
  });
});
