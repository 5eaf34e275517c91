/** Sites that may show a payment's page in a frame: the page's headers, and the owner's setting. */
import assert from 'node:assert/strict';
import type { Answered } from './client.ts';
import { Jar } from './desk.ts';
import { headersOf } from './owners.ts';
import { goodRequest, type Headers, startWorld, type World } from './world.ts';

const path = '/merchant-api/me/embedding';
const shop = 'https://shop.example';

describe('HTTP: framing', () => {
  let world: World;
  let link: string;
  let sites: readonly string[];
  before(async () => {
    world = await startWorld({ embeddingSites: async (appId) => (appId === 'wallet_demo' ? sites : []) });
    link = (await world.call('POST', '/payment-api/payments', { headers: world.keys.wallet, body: goodRequest() })).body
      .paymentLink;
  });
  beforeEach(() => {
    sites = [];
  });
  after(() => world.stop());

  const framing = async (url: string) => {
    const { headers } = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } });
    const ancestors = /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1];
    return { ancestors, old: headers.get('x-frame-options') };
  };
  const nobody = { ancestors: "'none'", old: 'DENY' };

  it('is refused to all sites until the merchant lists some', async () => {
    for (const more of ['', '/receipt']) assert.deepEqual(await framing(`${link}${more}`), nobody);
  });

  it('is allowed to the listed sites alone, on the page and its receipt', async () => {
    sites = [shop, 'https://xn--bcher-kva.example:8443'];
    for (const more of ['', '/receipt'])
      assert.deepEqual(await framing(`${link}${more}`), { ancestors: sites.join(' '), old: null });
    const policy = (await fetch(link)).headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(;|$)/);
  });

  it('is refused everywhere else: on the dashboard, the reference, news, answers, errors', async () => {
    sites = [shop];
    const others = [
      '/dashboard',
      '/dashboard/sign-in',
      '/docs',
      '/pay/none',
      '/pay/none/receipt',
      '/payment-api/payments',
      '/none',
    ];
    for (const each of others) assert.deepEqual(await framing(`${world.url}${each}`), nobody, each);
  });

  it('is known to the page’s script, which answers no other site', async () => {
    assert.ok(!(await (await fetch(link)).text()).includes('data-sites'));
    sites = [shop, 'https://b.example'];
    assert.match(
      await (await fetch(link)).text(),
      /<body [^>]*data-sites="https:\/\/shop\.example https:\/\/b\.example"/,
    );
  });

  it('leaves the way out of the frame to links that lead elsewhere', async () => {
    const page = await (await fetch(link)).text();
    const out = [...page.matchAll(/<a [^>]*href="([^"]+)"[^>]*>/g)].filter(([, to]) => !/^[/#]/.test(to ?? ''));
    assert.ok(out.length > 0);
    for (const [tag] of out) assert.match(tag, /target="_(top|blank)"/);
  });

  it('has a script for merchants’ pages, which any page may load', async () => {
    const { status, headers } = await fetch(`${world.url}/embed.js`);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('set-cookie'), null);
  });
});

describe('HTTP: the sites that may embed', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());

  const set = (sites: unknown, headers: Headers = headersOf('cleo')): Promise<Answered> =>
    world.call('POST', path, { headers, body: { sites } });

  it('are set by the app’s owner, and shown with its settings and its history', async () => {
    const { status, body } = await set(['https://Shop.example/']);
    assert.deepEqual([status, body.embeddingSites], [200, [shop]]);
    const read = await world.call('GET', '/merchant-api/me', { headers: headersOf('cleo') });
    assert.deepEqual(read.body.embeddingSites, [shop]);
    const audit = await world.call('GET', '/merchant-api/me/audit', { headers: headersOf('cleo') });
    assert.match(audit.body.data[0].what, /frame: https:\/\/shop\.example$/);
    assert.deepEqual((await set([])).body.embeddingSites, []);
  });

  it('are not set by any key', async () => {
    for (const key of [world.keys.merchant, world.keys.walletAdmin, {}])
      assert.equal((await set([shop], key)).status, 401);
  });

  it('are refused with the invalid one named', async () => {
    const bad = await set([shop, 'http://127.0.0.1:1']);
    assert.deepEqual([bad.status, bad.body.errors[0].pointer], [400, '/sites/1']);
    for (const sites of [undefined, null, shop, [1], [null], Array(11).fill(shop), ['a'.repeat(400)]])
      assert.equal((await set(sites)).status, 400);
  });

  it('are a form in the dashboard, which returns with the faulty site', async () => {
    const jar = new Jar(world.url);
    jar.cookies.set('__Host-session', 'cleo.session.token');
    const page = '/dashboard/apps/merchant_demo/embedding';
    const saved = await jar.post(page, { sites: ' https://shop.example\r\nhttps://b.example,https://c.example ' });
    assert.deepEqual([saved.status, saved.to], [303, page]);
    const shown = await jar.get(page);
    assert.match(shown.text, />https:\/\/b\.example\nhttps:\/\/c\.example\nhttps:\/\/shop\.example<\/textarea>/);
    const refused = await jar.post(page, { sites: 'https://shop.example\r\nhttps://*.example' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /The site https:\/\/\*\.example cannot be allowed/);
    assert.equal((await jar.post(page, {})).status, 303);
    assert.match((await jar.get(page)).text, /><\/textarea>/);
  });
});
