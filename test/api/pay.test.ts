/** Access to a payment's page, the data on it, and the answers that contain its link. */

import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import { noProfile } from '../../domain/merchant/profile.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { createPaymentSecrets } from '../../src/security/masterKey.ts';
import { weighedPages, weightOf } from './payWeight.ts';
import { goodRequest, paymentSecrets, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const profile = {
  ...noProfile,
  name: 'Tea House',
  colour: '#b3541e',
  supportContact: 'help@tea.example',
  logo: 'ab'.repeat(32),
  returnUrlTemplate: 'https://tea.example/orders/{orderId}?status={status}',
};

describe('HTTP: the page of a payment', () => {
  let world: World;
  let id: string;
  let link: string;
  before(async () => {
    world = await startWorld({ findProfile: async (appId) => (appId === 'wallet_demo' ? profile : noProfile) });
    const { body } = await world.call('POST', base, {
      headers: world.keys.wallet,
      body: goodRequest({ orderId: 'A/7', metadata: { note: 'private' } }),
    });
    id = body.id;
    link = body.paymentLink;
  });
  after(() => world.stop());

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${world.url}${path}`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });
  const pathOf = (secret: string) => `/pay/${secret}`;
  const path = () => new URL(link).pathname;

  it('is at a link with a separate secret, which holders of the key receive', async () => {
    assert.equal(link, `${world.url}/pay/${paymentSecrets.secretOf(id)}`);
    assert.ok(!link.includes(id));
    const own = await world.call('GET', `${base}/${id}`, { headers: world.keys.wallet });
    assert.equal(own.body.paymentLink, link);
    assert.deepEqual(own.body.merchant, {
      name: 'Tea House',
      colour: '#b3541e',
      supportContact: 'help@tea.example',
      logoUrl: `${world.url}/logos/${'ab'.repeat(32)}`,
    });
    const open = await world.call('GET', `${base}/${id}`);
    assert.deepEqual([open.body.paymentLink, open.body.merchant], [null, null]);
  });

  it('is shown to everybody with the link, without cookies, keys or scripts, and to no search engine', async () => {
    const answer = await get(path());
    const page = await answer.text();
    assert.equal(answer.status, 200);
    assert.match(page, /Pay 10\.01 USDC to Tea House/);
    assert.match(page, /<noscript><meta http-equiv="refresh"/);
    assert.ok(!page.includes('private') && !page.includes(id));
    const { headers } = answer;
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.match(headers.get('x-robots-tag') ?? '', /noindex/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('access-control-allow-origin'), null);
    assert.equal(headers.get('set-cookie'), null);
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
      assert.ok(policy.includes(rule), rule);
  });

  it('ignores parameters that mail and social sites append', async () => {
    const appended = 'fbclid=IwAR0&utm_source=a&utm_source=b&gclid=&_ga';
    for (const here of [path(), `${path()}/receipt`]) {
      const { status, text } = await get(`${here}?${appended}&lang=de`).then(async (answer) => ({
        status: answer.status,
        text: await answer.text(),
      }));
      assert.equal(status, 200, here);
      assert.match(text, /<html lang="de"/);
    }
  });

  it('is one page for every invalid link: forged, cut, of another case, of no payment', async () => {
    const secret = path().slice('/pay/'.length);
    const swapped = secret.replace(/[a-z]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
    const others = [
      secret.slice(1),
      `${secret}A`,
      swapped,
      'A'.repeat(43),
      id,
      Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url'),
      paymentSecrets.secretOf('0198f3c2-0000-8000-8000-00000000ffff'),
    ];
    const texts = new Set<string>();
    for (const text of others) {
      for (const more of ['', '/receipt']) {
        const answer = await get(`${pathOf(text)}${more}`);
        assert.equal(answer.status, 404, text);
        texts.add((await answer.text()).replaceAll(text, '').replaceAll('/receipt', ''));
      }
      assert.equal((await get(`${pathOf(text)}/live`)).status, 404);
    }
    assert.equal(texts.size, 1);
    for (const odd of ['a'.repeat(201), '%00', '%', '..%2fdashboard'])
      assert.ok((await get(pathOf(odd))).status < 500, odd);
  });

  it('uses the chosen language, else the browser’s', async () => {
    const lang = async (query: string, liked: string) =>
      /<html lang="(\w+)" dir="(\w+)"/
        .exec(await (await get(`${path()}${query}`, { 'accept-language': liked })).text())
        ?.slice(1);
    assert.deepEqual(await lang('', 'de-AT,en;q=0.5'), ['de', 'ltr']);
    assert.deepEqual(await lang('?lang=ar', 'de'), ['ar', 'rtl']);
    assert.deepEqual(await lang('?lang=tlh', 'es'), ['es', 'ltr']);
  });

  it('has the shop’s colour as a style sheet, and nothing else under that name', async () => {
    const answer = await get('/colours/b3541e.css');
    assert.equal(answer.headers.get('content-type'), 'text/css; charset=utf-8');
    assert.match(await answer.text(), /--accent:#b3541e/);
    for (const odd of ['red.css', 'b3541e', 'b3541e.css.js', 'B3541E.css', '%7D%7B.css'])
      assert.equal((await get(`/colours/${odd}`)).status, 404, odd);
  });

  it('is known to the creator of a payment without a key as well', async () => {
    const { body } = await world.call('POST', base, {
      headers: {},
      body: goodRequest({ appId: 'wallet_demo', orderId: 'k' }),
    });
    assert.match(body.paymentLink, /\/pay\/[\w-]{43}$/);
    const other = await world.call('POST', base, { headers: world.keys.other, body: goodRequest() });
    assert.equal(other.body.merchant, null);
  });

  it('has at most 100 kB with all that it loads, and 40 kB compressed', async () => {
    for (const [page, url] of Object.entries(await weighedPages(world))) {
      const plain = await weightOf(url, 'identity');
      const small = await weightOf(url, 'gzip, deflate, br');
      assert.ok(plain.files > 8, `${page}: ${plain.files} files`);
      assert.ok(plain.bytes < 100_000, `${page}: ${plain.bytes} bytes`);
      assert.ok(small.bytes < 40_000, `${page}: ${small.bytes} bytes compressed`);
      assert.ok(small.bytes < plain.bytes / 2, `${page}: ${small.bytes} of ${plain.bytes} bytes`);
    }
  });

  it('is no receipt before the payment is complete', async () => {
    const text = await (await get(`${path()}/receipt`)).text();
    assert.match(text, /this is not a receipt yet/);
  });
});

describe('HTTP: links of an earlier master key, while the earlier keys are unknown', () => {
  const link = `/pay/${createPaymentSecrets(Buffer.alloc(32, 7)).secretOf('0198f3c2-0000-8000-8000-000000000001')}`;
  let world: World;
  before(async () => {
    const former = () => {
      throw new Unavailable('not known yet');
    };
    world = await startWorld({ paymentSecrets: createPaymentSecrets(Buffer.alloc(32, 8), former) });
  });
  after(() => world.stop());

  for (const at of ['', '/live', '/receipt'])
    it(`state at ${at || 'the page'} that they cannot be read now, not that they are invalid, and are requested again`, async () => {
      const answer = await fetch(`${world.url}${link}${at}`, { headers: { accept: 'text/html' } });
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1']);
      assert.match(await answer.text(), /<script [^>]*again\.[^>]* data-after="5"/);
      const unknown = await fetch(`${world.url}/pay/nothing${at}`, { headers: { accept: 'text/html' } });
      assert.equal(unknown.status, 404);
      assert.doesNotMatch(await unknown.text(), /data-after/);
    });
});

describe('HTTP: news of a payment', () => {
  const news: (() => void)[] = [];
  let world: World;
  let shown = '';
  before(async () => {
    const paymentNews: HttpDeps['paymentNews'] = {
      listen: (_payment, signal) => ({
        awaitHead() {},
        async *[Symbol.asyncIterator]() {
          while (!signal.aborted) {
            const told = Promise.withResolvers<void>();
            news.push(told.resolve);
            signal.addEventListener('abort', () => told.resolve(), { once: true });
            await told.promise;
            if (!signal.aborted) yield;
          }
        },
      }),
    };
    world = await startWorld({ paymentNews });
  });
  after(() => world.stop());

  it('is the present version of the page, and then each new one', async () => {
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    const gone = new AbortController();
    const answer = await fetch(`${body.paymentLink}/live`, { signal: gone.signal });
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = async (what: RegExp) => {
      while (!what.test(shown)) {
        const next = await reader?.read();
        if (!next || next.done) break;
        shown += next.value;
      }
    };
    await read(/data: 1 waiting \n\n/);
    await world.call('POST', `${base}/${body.id}/payin`, {
      headers: world.keys.wallet,
      body: { txHash: `0x${'ab'.repeat(32)}`, fromAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' },
    });
    for (const tell of news.splice(0)) tell();
    await read(/data: 2 waiting \n\n/);
    gone.abort();
    assert.match(shown, /retry: 2000/);
  });
});
