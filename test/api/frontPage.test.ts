/** The front page, the files that browsers and search engines request, and error pages outside the dashboard. */
import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Unavailable } from '../../commands/ports.ts';
import { instant } from '../../domain/time.ts';
import { feeText } from '../../web/front/index.ts';
import { Jar, memoryAccounts } from './desk.ts';
import { startWorld, type World } from './world.ts';

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('HTTP: the front page', () => {
  let world: World;
  before(async () => {
    const accounts = memoryAccounts(() => instant(Date.UTC(2026, 10, 21, 9)));
    world = await startWorld({ accounts, findSession: accounts.findSession });
  });
  after(() => world.stop());

  it('describes the installation, and leads in, to the docs and to registration', async () => {
    const { status, text, headers } = await new Jar(world.url).get('/?utm_source=mail', browser);
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    for (const href of ['/dashboard/sign-in', '/dashboard/register', '/docs', '/docs/guides/five-minutes'])
      assert.ok(text.includes(`href="${href}"`), href);
    for (const word of ['Base', 'Stellar', '0.01 USD and 0.50 %', 'Accepts payments'])
      assert.ok(text.includes(word), word);
  });

  it('leads a signed-in person to their apps', async () => {
    const jar = new Jar(world.url);
    await jar.signIn('ada@example.org');
    const { text } = await jar.get('/', browser);
    assert.match(text, /To your apps/);
    assert.doesNotMatch(text, /dashboard\/register/);
  });

  it('offers no registration where nobody can register', async () => {
    const site = { mode: 'live', registrationOpen: false } as const;
    const closed = await startWorld({
      site: {
        ...site,
        chains: [],
        fee: { fixed_microUsd: 0n, basisPoints: 0 },
        settlementCoolDown_hours: 48,
        mailboxUrl: null,
        demoEmail: null,
      },
    });
    const { text } = await new Jar(closed.url).get('/', browser);
    assert.doesNotMatch(text, /dashboard\/register/);
    await closed.stop();
  });

  it('names chains that are behind, and answers while the stores do not; many readers cost one check', async () => {
    let checks = 0;
    const checked = { ready: true, checks: { 'chain:8453': { ok: false }, 'chain:1': { ok: true } } };
    const late = await startWorld({
      readiness: async () => {
        checks += 1;
        return checked;
      },
    });
    const pages = await Promise.all(Array.from({ length: 20 }, () => new Jar(late.url).get('/', browser)));
    for (const { text } of pages) assert.equal([...text.matchAll(/Delayed at present/g)].length, 1);
    assert.equal(checks, 1);
    await late.stop();
    const failing = async () => {
      throw new Unavailable('no store');
    };
    const dark = await startWorld({ readiness: failing });
    assert.match((await new Jar(dark.url).get('/', browser)).text, /State unknown/);
    await dark.stop();
  });

  it('has an icon and rules for search engines, which exclude payment pages', async () => {
    const jar = new Jar(world.url);
    const icon = await jar.get('/favicon.ico');
    assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/x-icon']);
    const robots = await jar.get('/robots.txt');
    assert.match(robots.text, /Allow: \/docs\nAllow: \/llms.txt\nDisallow: \/\n/);
    const llms = await jar.get('/llms.txt');
    assert.match(llms.text, /^# Payment Intents\n/);
    assert.ok(llms.text.includes(`${world.url}/docs`));
    assert.equal((await jar.ask('POST', '/robots.txt', {})).status, 405);
  });

  it('prints fees in the usual form', () => {
    assert.equal(feeText({ fixed_microUsd: 0n, basisPoints: 0 }), 'None');
    assert.equal(feeText({ fixed_microUsd: 0n, basisPoints: 125 }), '1.25 % of the amount');
    assert.equal(feeText({ fixed_microUsd: 15_000n, basisPoints: 0 }), '0.015 USD');
  });
});

describe('HTTP: errors outside the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());
  interface Opened {
    readonly status: number | undefined;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }
  /** Sends a request without fetch, which sets Sec-Fetch-Mode. */
  const open = (path: string, headers: Record<string, string>, method = 'GET'): Promise<Opened> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(world.url);
      const request = httpRequest({ hostname, port, path, method, headers }, (answer) => {
        answer.setEncoding('utf8');
        let text = '';
        answer.on('data', (piece: string) => {
          text += piece;
        });
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
      });
      request.on('error', reject).end();
    });
  const paths = ['/nothing', '/Docs', '//', '/docs/nothing', '/payment-api/nothing', '/payment-api/payments/x', '/%zz'];

  it('are pages for browsers on every path, with the status and request id of the JSON answer', async () => {
    for (const path of paths) {
      const page = await open(path, { ...browser, 'sec-fetch-mode': 'navigate' });
      const json = await open(path, {});
      assert.equal(page.status, json.status, path);
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8', path);
      assert.ok(page.text.includes(String(page.headers['x-request-id'])), path);
      // Old browsers do not state that they open a page, so they get the API's documented answer.
      const old = await open(path, browser);
      assert.match(String(old.headers['content-type']), path.startsWith('/payment-api') ? /json/ : /html/, path);
    }
  });

  it('are JSON for scripts of pages and for other methods', async () => {
    for (const path of paths) {
      const script = await open(path, { ...browser, 'sec-fetch-mode': 'cors' });
      const sent = await open(path, { ...browser, 'sec-fetch-mode': 'navigate' }, 'DELETE');
      for (const { headers } of [script, sent]) assert.match(String(headers['content-type']), /json/, path);
    }
  });

  it('are JSON for programs: with */*, application/json, or no type at all', async () => {
    const jar = new Jar(world.url);
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', 'text/html;q=0'])
      for (const path of paths) {
        const { headers, text } = await jar.get(path, { accept });
        assert.match(String(headers.get('content-type')), /json/, `${path} ${accept}`);
        assert.ok(JSON.parse(text).error, path);
      }
  });

  it('contain nothing of the request', async () => {
    const { text } = await open('/%3Cscript%3Ealert(1)%3C/script%3E?x="%3E%3Cimg%3E', browser);
    assert.match(text, /^<!doctype html>/);
    assert.doesNotMatch(text, /alert|<img>/);
  });
});
