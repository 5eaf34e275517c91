/** Reusable links over HTTP: the owner creates them; a payer who opens one has few rights. */

import assert from 'node:assert/strict';
import type { AppSettings } from '../../commands/createPayment.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { type RateName, type Rates, unlimited } from '../../src/api/rateLimits.ts';
import { Jar, type PageAnswered } from './desk.ts';
import { headersOf } from './owners.ts';
import { goodRequest, merchantApp, startWorld, type World } from './world.ts';

const api = '/merchant-api/me/links';
const cleo = { ...headersOf('cleo'), 'X-App-Id': 'merchant_demo' };
const accept = { accept: 'text/html', 'accept-language': 'en' };
const onBase = { chainId: '8453', tokenSymbol: 'USDC' };

describe('HTTP: reusable links', () => {
  let world: World;
  beforeEach(async () => {
    await start();
  });
  afterEach(() => world.stop());

  async function start(more: Partial<HttpDeps> = {}): Promise<void> {
    world = await startWorld(more);
  }
  const create = async (body: object = {}) => {
    const answer = await world.call('POST', api, { headers: cleo, body: { amount: '5.00', source: onBase, ...body } });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const pathOf = ({ url }: { readonly url: string }) => new URL(url).pathname;
  const open = async (path: string, headers: Record<string, string> = accept): Promise<PageAnswered> =>
    new Jar(world.url).get(path, headers);
  const nonceIn = ({ text }: PageAnswered): string =>
    /name="nonce" value="([^"]+)"/.exec(text)?.[1] ?? assert.fail(text);
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = accept) =>
    new Jar(world.url).post(path, fields, headers);
  const payments = async () =>
    (await world.call('GET', '/payment-api/payments?limit=100', { headers: world.keys.merchantAdmin })).body.data;

  it('ignore parameters that mail and social sites append', async () => {
    const link = await create();
    assert.equal((await open(`${pathOf(link)}?fbclid=x&utm_campaign=y&gclid=z`)).status, 200);
  });

  describe('for their owner', () => {
    it('are created, listed and closed', async () => {
      const link = await create({ title: 'Tea', type: 'exactIn' });
      assert.partialDeepStrictEqual(link, {
        url: `${world.url}/link/${link.id}`,
        type: 'exactIn',
        amount: '5.00',
        minAmount: null,
        title: 'Tea',
        source: onBase,
        closedAt: null,
      });
      const free = await create({ amount: null, minAmount: '1', source: null });
      assert.partialDeepStrictEqual(free, { amount: null, minAmount: '1.00', maxAmount: '10000.00', source: null });
      const closed = await world.call('POST', `${api}/${link.id}/close`, { headers: cleo });
      assert.equal(closed.status, 200);
      assert.match(closed.body.closedAt, /^2026/);
      const { body } = await world.call('GET', api, { headers: cleo });
      assert.deepEqual(
        body.data.map(({ id, closedAt }: { id: string; closedAt: string | null }) => [id, closedAt !== null]),
        [
          [free.id, false],
          [link.id, true],
        ],
      );
    });

    it('are in the history of their app, with the people who created and closed them', async () => {
      world.clock.advance(1_000);
      const { id } = await create();
      await world.call('POST', `${api}/${id}/close`, { headers: cleo });
      const { body } = await world.call('GET', '/merchant-api/me/audit?limit=2', { headers: cleo });
      assert.deepEqual(
        body.data.map((each: Record<string, unknown>) => [each['by'], each['what'], each['revision']]),
        [
          ['you', 'LinkClosed', null],
          ['you', 'LinkCreated', null],
        ],
      );
    });

    it('are created once per idempotencyKey', async () => {
      const ids = [await create({ idempotencyKey: 'k' }), await create({ idempotencyKey: 'k' }), await create()];
      assert.equal(new Set(ids.map(({ id }) => id)).size, 2);
    });

    it('are refused with a pointer', async () => {
      const cases: readonly (readonly [object, string])[] = [
        [{ amount: '0.01' }, '/amount'],
        [{ amount: 5 }, '/amount'],
        [{ amount: '5,00' }, '/amount'],
        [{ minAmount: '1.00' }, '/minAmount'],
        [{ amount: null, maxAmount: '0.01' }, '/maxAmount'],
        [{ source: { chainId: '7', tokenSymbol: 'USDC' } }, '/source/chainId'],
        [{ source: { chainId: '8453' } }, '/source/tokenSymbol'],
        [{ title: 'a'.repeat(201) }, '/title'],
        [{ type: 'anyAmount' }, '/type'],
        [{ appId: 'wallet_demo' }, '/appId'],
      ];
      for (const [body, pointer] of cases) {
        const asked = { amount: '5.00', source: onBase, ...body };
        const answer = await world.call('POST', api, { headers: cleo, body: asked });
        assert.equal(answer.status, 400, JSON.stringify(body));
        assert.equal(answer.body.errors[0].pointer, pointer);
      }
    });

    it('are closed only if they exist: another id, of any length, is 404', async () => {
      for (const id of ['x', 'a'.repeat(36), 'a'.repeat(500), '%2e%2e%2f', 'payment-1'])
        assert.equal((await world.call('POST', `${api}/${id}/close`, { headers: cleo })).status, 404, id);
    });
  });

  describe('for a payer', () => {
    it('show the amount due to everybody with the link; viewing creates nothing', async () => {
      const path = pathOf(await create({ title: 'A pot of tea', description: 'Green' }));
      for (const method of ['GET', 'GET', 'HEAD']) {
        const { status, headers, text } = await new Jar(world.url).ask(method, path, { headers: accept });
        assert.equal(status, 200);
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.equal(headers.get('set-cookie'), null);
        assert.match(headers.get('x-robots-tag') ?? '', /noindex/);
        assert.match(headers.get('content-security-policy') ?? '', /form-action 'self';frame-ancestors 'none'/);
        if (method === 'GET')
          for (const words of ['A pot of tea', 'Green', '5.00', 'Base']) assert.ok(text.includes(words));
      }
      assert.deepEqual(await payments(), []);
      assert.notEqual(nonceIn(await open(path)), nonceIn(await open(path)));
    });

    it('lead to the page of their own payment, in their language', async () => {
      const link = await create();
      const path = pathOf(link);
      const answer = await send(path, { nonce: nonceIn(await open(path)), lang: 'de' });
      assert.equal(answer.status, 303);
      assert.match(answer.to ?? '', /^\/pay\/[\w-]{43}\?lang=de$/);
      assert.match((await open(answer.to ?? '')).text, /5\.01 USDC/);
      const [payment] = await payments();
      const full = await world.call('GET', `/payment-api/payments/${payment.id}`, { headers: world.keys.merchant });
      assert.deepEqual([full.body.metadata, full.body.keyless], [{ linkId: link.id }, true]);
      assert.match(full.body.orderId, /^link-[0-9a-f]{20}$/);
    });

    it('create one payment per form, however often it is sent at once', async () => {
      const path = pathOf(await create());
      const nonce = nonceIn(await open(path));
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(path, { nonce })));
      assert.equal(new Set(answers.map(({ to }) => to)).size, 1);
      assert.equal((await payments()).length, 1);
      await send(path, { nonce: nonceIn(await open(path)) });
      assert.equal((await payments()).length, 2);
    });

    it('accept the amount and the chain that they choose, with a point or a comma', async () => {
      const path = pathOf(await create({ amount: null, minAmount: '1.00', maxAmount: '20.00', source: null }));
      for (const amount of ['2.5', '2,50']) {
        const nonce = nonceIn(await open(path));
        const { status, to } = await send(path, { nonce, amount, source: '1-USDT' });
        assert.equal(status, 303);
        assert.match((await open(to ?? '')).text, /2\.51.*Ethereum/s);
      }
    });

    it('show errors beside the fields, in their language, and keep the entered values', async () => {
      const path = pathOf(await create({ amount: null, minAmount: '1.00', maxAmount: '20.00', source: null }));
      for (const amount of ['', '0.99', '20.01', '1.000', '1,000.00', 'ten', '-5', '1e1', '9'.repeat(400)]) {
        const nonce = nonceIn(await open(path));
        const { status, text } = await send(path, { nonce, amount, source: '1-USDT', lang: 'es' });
        assert.equal(status, 400, amount);
        assert.match(text, /<html lang="es"/);
        assert.match(text, /Escriba un importe de \S*1\.00\S* a \S*20\.00/, amount);
        assert.match(text, /value="1-USDT" selected/);
      }
      assert.deepEqual(await payments(), []);
    });

    it('cannot be manipulated: other fields, other chains, no form, another form’s token', async () => {
      const path = pathOf(await create({ source: null }));
      const nonce = nonceIn(await open(path));
      const bent: readonly Record<string, string>[] = [
        {},
        { nonce: 'mine' },
        { nonce, source: '8453' },
        { nonce, source: '999-USDC' },
        { nonce, source: '8453-EVIL' },
        { nonce },
        { nonce, source: '8453-USDC', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
        { nonce, source: '8453-USDC', metadata: '{}' },
      ];
      for (const fields of bent) {
        const { status, text } = await send(path, fields);
        assert.equal(status, 400, JSON.stringify(fields));
        assert.match(text, /cannot be paid right now/);
      }
      assert.deepEqual(await payments(), []);
      const { to } = await send(path, { nonce, source: '8453-USDC', amount: '0.02' });
      assert.match((await open(to ?? '')).text, /5\.01 USDC/, 'the amount is the link’s');
    });

    it('lead to a payment whose page has the choice, if the merchant allows a choice', async () => {
      const payFrom: AppSettings['payFrom'] = [
        { chainId: 8453, tokenSymbol: 'USDC' },
        { chainId: 137, tokenSymbol: 'USDC' },
      ];
      await world.stop();
      await start({ findApp: async () => ({ ...merchantApp, payFrom }) });
      const path = pathOf(await create({ source: null }));
      const page = await open(path);
      assert.match(page.text, /On the next page you choose/);
      assert.match(page.text, /USDC on Polygon/);
      assert.doesNotMatch(page.text, /<select|Ethereum/);
      const { to } = await send(path, { nonce: nonceIn(page), source: '1-USDT' });
      const { text } = await open(to ?? '');
      assert.deepEqual(
        [...text.matchAll(/name="source" value="([^"]+)"/g)].map(([, source]) => source),
        ['8453 USDC', '137 USDC'],
      );
    });

    it('let the payer of an expired payment pay again, while they are open', async () => {
      const link = await create();
      const path = pathOf(link);
      const { to = '' } = await send(path, { nonce: nonceIn(await open(path)), lang: 'de' });
      assert.doesNotMatch((await open(to ?? '')).text, new RegExp(link.id));
      const [{ id: paymentId }] = await payments();
      await world.expire(paymentId);
      const expired = await open(to ?? '');
      assert.match(expired.text, new RegExp(`href="${path}\\?lang=de" target="_top">Erneut bezahlen`));
      await world.call('POST', `${api}/${link.id}/close`, { headers: cleo });
      const closed = await open(to ?? '');
      assert.match(closed.text, /Der Link, über den diese Zahlung gestartet wurde, ist geschlossen/);
      assert.doesNotMatch(closed.text, new RegExp(link.id));
    });

    it('are not offered to payers of other apps, whatever a payment’s metadata contains', async () => {
      const { id } = await create();
      for (const linkId of [id, 'x', '../pay', 7, null, { id }]) {
        const body = goodRequest({ metadata: { linkId } });
        const made = await world.call('POST', '/payment-api/payments', { headers: world.keys.wallet, body });
        assert.equal(made.status, 201, made.text);
        await world.expire(made.body.id);
        const { status, text } = await open(new URL(made.body.paymentLink).pathname);
        assert.equal(status, 200);
        assert.match(text, /This payment has expired/);
        assert.doesNotMatch(text, /Pay again|is closed/);
      }
    });

    it('state that they are closed, and create nothing more; started payments continue', async () => {
      const link = await create();
      const path = pathOf(link);
      const page = await open(path);
      const { to } = await send(path, { nonce: nonceIn(page) });
      await world.call('POST', `${api}/${link.id}/close`, { headers: cleo });
      const closed = await open(path);
      assert.equal(closed.status, 410);
      assert.match(closed.text, /This link is closed/);
      assert.doesNotMatch(closed.text, /<form/);
      const late = await send(path, { nonce: nonceIn(page), lang: 'ar' });
      assert.deepEqual([late.status, late.to], [303, `${path}?lang=ar`]);
      assert.match((await open(to ?? '')).text, /Pay 5\.01 USDC/);
      assert.equal((await payments()).length, 1);
    });

    it('are one page if they do not exist: forged, cut, of another case', async () => {
      const path = pathOf(await create());
      for (const none of [
        path.slice(0, -1),
        `${path}a`,
        path.toUpperCase().replace('/LINK', '/link'),
        '/link/x',
        `/link/${'a'.repeat(36)}`,
      ]) {
        for (const answer of [await open(none), await send(none, { nonce: 'x' })]) {
          assert.ok([404, 400].includes(answer.status), none);
          assert.match(answer.text, /Link not found|There is no such page/);
        }
      }
    });

    it('are submitted from our own page alone: another site’s form creates nothing', async () => {
      const path = pathOf(await create());
      const nonce = nonceIn(await open(path));
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
      ]) {
        const answer = await send(path, { nonce }, { ...accept, ...headers });
        assert.equal(answer.status, 403);
      }
      assert.deepEqual(await payments(), []);
    });
  });

  describe('in a flood', () => {
    const counting = (max: Partial<Record<RateName, number>>): HttpDeps['rates'] => {
      const counts = new Map<string, number>();
      return {
        ...unlimited,
        async count(name, who) {
          const requestsMax = max[name];
          if (requestsMax === undefined) return null;
          const consumed = (counts.get(`${name} ${who}`) ?? 0) + 1;
          counts.set(`${name} ${who}`, consumed);
          const remaining = Math.max(0, requestsMax - consumed);
          return { name, requestsMax, window_s: 60, allowed: consumed <= requestsMax, remaining, reset_s: 30 };
        },
      };
    };
    const flood = async (path: string, count: number): Promise<readonly number[]> => {
      const statuses: number[] = [];
      for (let sent = 0; sent < count; sent += 1)
        statuses.push((await send(path, { nonce: nonceIn(await open(path)) })).status);
      return statuses;
    };

    it('create no more payments than the app may have open, and leave its own key free', async () => {
      await world.stop();
      await start({ rates: counting({ linkOpen: 3 }) });
      const [one, other] = [pathOf(await create()), pathOf(await create())];
      assert.deepEqual(await flood(one, 4), [303, 303, 303, 429]);
      const refused = await send(other, { nonce: nonceIn(await open(other)) });
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '30']);
      assert.match(refused.text, /cannot be paid right now/);
      assert.equal((await payments()).length, 3);
      const body = {
        type: 'exactOut',
        source: { chainId: 8453, tokenSymbol: 'USDC' },
        destination: { amount: '5.00' },
      };
      const own = await world.call('POST', '/payment-api/payments', { headers: world.keys.merchant, body });
      assert.equal(own.status, 201);
    });

    it('use up places of the app by the payers’ addresses', async () => {
      await world.stop();
      const seen: unknown[] = [];
      const count: Rates['count'] = async (...asked) => {
        if (asked[0] === 'linkOpen') seen.push(asked);
        return null;
      };
      await start({ rates: { ...unlimited, count } });
      assert.deepEqual(await flood(pathOf(await create()), 1), [303]);
      assert.deepEqual(seen, [['linkOpen', 'merchant_demo', '127.0.0.1']]);
    });

    it('create no more from one address than any stranger may create', async () => {
      for (const name of ['keylessCreation', 'keylessOpen'] as const) {
        await world.stop();
        await start({ rates: counting({ [name]: 2 }) });
        assert.deepEqual(await flood(pathOf(await create()), 3), [303, 303, 429]);
      }
    });

    it('cannot be counted while Postgres is away: nothing is created', async () => {
      await world.stop();
      const away = async () =>
        ({ name: 'linkOpen', requestsMax: 0, window_s: 1, allowed: false, remaining: 0, reset_s: 1 }) as const;
      await start({ rates: { ...unlimited, count: async (name) => (name === 'linkOpen' ? away() : null) } });
      assert.deepEqual(await flood(pathOf(await create()), 1), [429]);
      assert.deepEqual(await payments(), []);
    });
  });

  it('exist for apps with a wallet', async () => {
    const { links } = world.people;
    const bare = { appId: 'merchant_bare', idSalt: 'ab'.repeat(32), webhookUrl: null, settlement: null };
    const asked = { type: 'exactOut', amount: '5.00', title: null, description: null, source: null } as const;
    const refused = await links.create(bare, asked, { cause: 'operator:spec' });
    assert.ok(isRefusal(refused) && refused.refused === 'settlementMissing');
  });
});
