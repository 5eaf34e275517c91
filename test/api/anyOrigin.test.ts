import assert from 'node:assert/strict';
import { goodRequest, receiver, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const page = { Origin: 'https://shop.example' };
const txHash = `0x${'cd'.repeat(32)}`;

interface Operation {
  readonly tags: readonly string[];
  readonly security: readonly object[];
}

describe('HTTP: pages of another origin', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const preflight = (method: string, path: string) =>
    world.call('OPTIONS', path, {
      headers: {
        ...page,
        'Access-Control-Request-Method': method,
        'Access-Control-Request-Headers': 'content-type',
      },
    });
  const allowedMethods = (headers: Readonly<Record<string, unknown>>): readonly string[] =>
    String(headers['access-control-allow-methods'] ?? '')
      .split(', ')
      .filter(Boolean);

  it('may call every operation that works without a key, but no other and no sign-in', async () => {
    const { body: document } = await world.call('GET', '/openapi.json');
    const found: string[] = [];
    for (const [path, item] of Object.entries<Record<string, Operation>>(document.paths)) {
      const here = path.replaceAll(/\{\w+\}/g, '1');
      for (const [method, { security, tags }] of Object.entries(item)) {
        const keyless = security.length === 0 || security.some((way) => Object.keys(way).length === 0);
        const open = keyless && !tags.includes('Accounts');
        const { status, headers } = await preflight(method.toUpperCase(), here);
        assert.equal(status, 204);
        assert.equal(headers['access-control-allow-credentials'], undefined);
        const isAllowed = allowedMethods(headers).includes(method.toUpperCase());
        assert.equal(isAllowed, open, `${method} ${path}`);
        if (!open) continue;
        found.push(`${method} ${path}`);
        assert.equal(headers['access-control-allow-origin'], '*');
        assert.match(String(headers['access-control-allow-headers']), /\bContent-Type\b/);
        assert.doesNotMatch(String(headers['access-control-allow-headers']), /key|authorization|\*/i);
      }
    }
    for (const expected of [
      `post ${base}`,
      'post /payment-api',
      `get ${base}/{id}`,
      `post ${base}/{id}/payin`,
      'post /v1/cashbacksign',
    ])
      assert.ok(found.includes(expected), expected);
  });

  it('create a payment without a key, register its payin, and read it with a content type', async () => {
    const created = await world.call('POST', base, { headers: page, body: goodRequest({ appId: 'wallet_demo' }) });
    assert.equal(created.status, 201);
    const here = `${base}/${created.body.id}`;
    const payin = { txHash, fromAddress: receiver };
    for (const answer of [
      created,
      await world.call('POST', `${here}/payin`, { headers: page, body: payin }),
      await world.call('GET', here, { headers: { ...page, 'Content-Type': 'application/json' } }),
    ]) {
      assert.ok(answer.status < 300);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.match(String(answer.headers['access-control-expose-headers']), /X-Request-Id/);
    }
  });

  it('read why a request was refused, whatever refused it', async () => {
    for (const answer of [
      await world.call('POST', base, { headers: page, body: goodRequest({ appId: 'wallet_nobody' }) }),
      await world.call('POST', base, { headers: page, body: '{' }),
      await world.call('POST', base, { headers: { ...page, 'Content-Type': 'text/plain' }, body: '{}' }),
      await world.call('POST', '/v1/cashbacksign', { headers: page, body: {} }),
    ]) {
      assert.ok(answer.status >= 400);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
    }
  });

  it('read no answer to a request with a key', async () => {
    const { body } = await world.call('POST', base, { headers: world.keys.wallet, body: goodRequest() });
    for (const path of [`${base}/${body.id}`, `${base}/order/wallet_demo/none`]) {
      const { headers } = await world.call('GET', path, { headers: { ...page, ...world.keys.wallet } });
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  });
});
