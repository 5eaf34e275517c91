import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { createClients, type RateName, type Rates, unlimited } from '../../src/api/rateLimits.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const create = '/payment-api/payments';
const unknown = `${create}/f47ac10b-58cc-4372-a567-0e02b2c3d479`;
const keyless = (more: object = {}) => ({ body: goodRequest({ appId: 'wallet_demo', ...more }) });

/** Limits these rates to a number per minute; other rates are not limited. */
function counting(limits: Partial<Record<RateName, number>>): Rates {
  const counts = new Map<string, number>();
  return {
    async count(name, who) {
      const requestsMax = limits[name];
      if (requestsMax === undefined) return null;
      const count = (counts.get(`${name} ${who}`) ?? 0) + 1;
      counts.set(`${name} ${who}`, count);
      const remaining = Math.max(0, requestsMax - count);
      return { name, requestsMax, window_s: 60, reset_s: 42, remaining, allowed: count <= requestsMax };
    },
  };
}

describe('HTTP: the limit of', () => {
  let world: World;
  const start = async (replaced: Partial<HttpDeps>) => {
    world = await startWorld(replaced);
    return world;
  };
  afterEach(() => world.stop());

  const from = (...addresses: string[]) => ({ headers: { 'X-Forwarded-For': addresses.join(', ') } });
  const statuses = async (count: number, ask: () => Promise<{ status: number }>) => {
    const all: number[] = [];
    for (let time = 0; time < count; time += 1) all.push((await ask()).status);
    return all;
  };

  it('requests of strangers is per address: 429 states when to try again; keys and health still work', async () => {
    // The client of these tests reads the document first, which counts.
    const { call, keys } = await start({ rates: counting({ address: 3 }) });
    const first = await call('GET', unknown);
    assert.equal(first.headers['ratelimit-policy'], '"address";q=3;w=60');
    assert.equal(first.headers['ratelimit'], '"address";r=1;t=42');
    assert.deepEqual(await statuses(3, () => call('GET', unknown)), [404, 429, 429]);
    const { status, body, headers } = await call('GET', unknown);
    assert.deepEqual([status, body.error], [429, 'rateLimited']);
    assert.equal(headers['retry-after'], '42');
    assert.equal(headers['ratelimit'], '"address";r=0;t=42');
    assert.match(body.message, /42 s/);
    assert.equal((await call('GET', unknown, { headers: keys.wallet })).status, 404);
    assert.equal((await call('GET', '/healthz')).status, 200);
    assert.equal((await call('GET', '/readyz')).status, 200);
  });

  it('requests of strangers does not depend on the addresses that they claim', async () => {
    const { call } = await start({ rates: counting({ address: 3 }) });
    let host = 0;
    const ask = () => call('GET', unknown, from(`198.51.100.${++host}`));
    assert.deepEqual(await statuses(4, ask), [404, 404, 429, 429]);
  });

  it('requests of strangers depends on the address that a trusted proxy names', async () => {
    const { call } = await start({ rates: counting({ address: 2 }), clients: createClients(['127.0.0.0/8']) });
    assert.deepEqual(await statuses(3, () => call('GET', unknown, from('198.51.100.1'))), [404, 404, 429]);
    assert.deepEqual(await statuses(1, () => call('GET', unknown, from('198.51.100.2'))), [404]);
    assert.deepEqual(await statuses(1, () => call('GET', unknown, from('198.51.100.3', '198.51.100.1'))), [429]);
  });

  for (const [what, method, path, headers = {}] of [
    ['paths that do not exist', 'GET', '/nothing'],
    ['pages that do not exist', 'GET', '/dashboard/nothing/here/at/all'],
    ['methods that a path does not have', 'DELETE', create],
    ['OPTIONS', 'OPTIONS', create],
    ['paths that cannot be decoded', 'GET', `${create}/%zz`],
    ['the front page', 'GET', '/'],
    ['files of pages', 'GET', '/dashboard/assets/look.css'],
    ['forms of other sites', 'POST', '/dashboard/sign-in', { Origin: 'https://evil.example' }],
  ] as const) {
    it(`requests of strangers counts ${what}`, async () => {
      const { url } = await start({ rates: counting({ address: 3 }) });
      const ask = () => fetch(`${url}${path}`, { method, headers, redirect: 'manual' });
      const [, , third = 0, fourth] = await statuses(4, ask);
      assert.notEqual(third === 429 ? fourth : third, undefined);
      assert.equal(fourth, 429);
    });
  }

  it('guesses of keys is that of any request without a key', async () => {
    const { call } = await start({ rates: counting({ address: 3 }) });
    const guess = () => call('GET', unknown, { headers: { 'X-API-Key': 'pi_live_guess' } });
    assert.deepEqual(await statuses(4, guess), [401, 401, 429, 429]);
  });

  it('a key’s and an app’s requests is separate for each', async () => {
    const { call, keys } = await start({ rates: counting({ key: 2, app: 3 }) });
    const ask = (headers: Record<string, string>) => () => call('GET', unknown, { headers });
    assert.deepEqual(await statuses(3, ask(keys.wallet)), [404, 404, 429]);
    assert.deepEqual(await statuses(1, ask(keys.walletAdmin)), [429]);
    assert.deepEqual(await statuses(1, ask(keys.other)), [404]);
  });

  it('payments created without a key applies; with a key there is none', async () => {
    const { call, keys } = await start({ rates: counting({ keylessCreation: 2 }) });
    assert.deepEqual(await statuses(3, () => call('POST', create, keyless())), [201, 201, 429]);
    assert.equal((await call('POST', '/payment-api', keyless())).status, 429);
    assert.equal((await call('POST', create, { body: goodRequest(), headers: keys.wallet })).status, 201);
  });

  it('payments created without a key counts the open ones of the address', async () => {
    const { call } = await start({ rates: counting({ keylessOpen: 2 }) });
    assert.deepEqual(await statuses(3, () => call('POST', create, keyless())), [201, 201, 429]);
  });

  it('payments created depends on the places of the app and of the address', async () => {
    const seen: unknown[] = [];
    const count: Rates['count'] = async (...asked) => {
      if (asked[0] === 'keylessOpen') seen.push(asked);
      return null;
    };
    const { call } = await start({ rates: { ...unlimited, count } });
    await call('POST', create, keyless());
    assert.deepEqual(seen, [['keylessOpen', '127.0.0.1', 'wallet_demo']]);
  });

  it('payments created without a key cannot be counted while Postgres is away: 503', async () => {
    const count: Rates['count'] = async (name) => {
      if (name === 'keylessCreation') throw new Unavailable('away');
      return null;
    };
    const { call, keys } = await start({ rates: { ...unlimited, count } });
    assert.equal((await call('POST', create, keyless())).status, 503);
    assert.equal((await call('POST', create, { body: goodRequest(), headers: keys.wallet })).status, 201);
  });
});
