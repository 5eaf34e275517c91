import assert from 'node:assert/strict';
import { connect } from 'node:net';
import pino from 'pino';
import { ChainBroken } from '../../commands/codec.ts';
import { Unavailable } from '../../commands/ports.ts';
import { createOperationsApp } from '../../src/api/app.ts';
import type { HttpDeps } from '../../src/api/index.ts';
import { defaultLimits } from '../../src/api/middleware.ts';
import { createClients, unlimited } from '../../src/api/rateLimits.ts';
import { startHttp } from '../../src/api/server.ts';
import { ChainUnavailable } from '../../src/chains/node/nodes.ts';
import { randomIds } from '../../src/process/system.ts';
import { patience_ms } from '../support/patience.ts';
import { goodRequest, startWorld, type World } from './world.ts';

const base = '/payment-api/payments';
const id = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';

/** Sends bytes unchanged and returns everything received until the server closes. */
function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

async function withWorld(replaced: Partial<HttpDeps>, test: (world: World) => Promise<void>): Promise<void> {
  const world = await startWorld(replaced);
  try {
    await test(world);
  } finally {
    await world.stop();
  }
}

describe('HTTP: the protocol', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it('answers every documented path with 405 and Allow to other methods, and OPTIONS with Allow', async () => {
    const { body: document } = await world.call('GET', '/openapi.json');
    for (const [path, item] of Object.entries<object>(document.paths)) {
      const here = path.replaceAll('{id}', id).replace('{appId}', 'wallet_demo').replace('{orderId}', '1');
      const methods = Object.keys(item).map((method) => method.toUpperCase());
      const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
        if (methods.includes(method)) continue;
        const { status, headers, body } = await world.call(method, here);
        assert.deepEqual([status, body.error], [405, 'methodNotAllowed'], `${method} ${here}`);
        assert.deepEqual(String(headers['allow']).split(', ').sort(), allow.sort());
      }
      const options = await world.call('OPTIONS', here);
      assert.deepEqual([options.status, options.text], [204, '']);
      assert.deepEqual(String(options.headers['allow']).split(', ').sort(), allow.sort());
    }
  });

  it('answers HEAD like GET, without the body', async () => {
    const { status, text, headers } = await world.call('HEAD', '/healthz');
    assert.deepEqual([status, text, headers['content-length']], [200, '', '15']);
  });

  it('answers unknown paths with 404', async () => {
    for (const path of ['/nothing', '/payment-api/nothing', '/Healthz', '//', '/docs/../../package.json', '/.env']) {
      const { status, body } = await world.call('GET', path);
      assert.deepEqual([status, body.error], [404, 'notFound'], path);
    }
  });

  it('accepts a well-formed request id and generates one otherwise', async () => {
    const answer = async (sent: string) =>
      (await world.call('GET', '/healthz', { headers: { 'X-Request-Id': sent } })).headers['x-request-id'];
    assert.equal(await answer('order-7:retry.2'), 'order-7:retry.2');
    for (const bad of ['a b', '<script>', 'x'.repeat(129), '']) {
      assert.match(String(await answer(bad)), /^[0-9a-f-]{36}$/, bad);
    }
  });

  it('sends headers that prevent a browser from loading anything from elsewhere', async () => {
    const { headers } = await world.call('GET', '/docs/try');
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'",
    );
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['x-powered-by'], undefined);
  });

  it('answers malformed HTTP in the same error shape', async () => {
    const close = 'Connection: close\r\n\r\n';
    for (const [request, status] of [
      [`GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}`, 400],
      [`GET /healthz HTTP/1.1\r\n${close}`, 400],
      ['nonsense\r\n\r\n', 400],
      [`POST /payment-api HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n${close}`, 400],
      [`GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n${close}`, 431],
    ] as const) {
      const answer = await raw(world.url, request);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), request.slice(0, 60));
      assert.match(answer, /X-Request-Id: \S+/i);
      assert.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).status, status);
    }
  });

  it('answers errors as application/json, and as problem details to those who ask for them', async () => {
    const json = 'application/json; charset=utf-8';
    const problem = 'application/problem+json; charset=utf-8';
    for (const [accept, type] of [
      [undefined, json],
      ['*/*', json],
      ['application/*', json],
      ['application/json', json],
      ['text/html', json],
      ['application/problem+json', problem],
      ['application/json, Application/Problem+JSON', problem],
      ['application/json, application/problem+json;q=0.5', json],
      ['application/problem+json;q=0', json],
      ['application/problem+json;q=high', json],
    ] as const) {
      const answer = await fetch(`${world.url}/nowhere`, { headers: accept === undefined ? {} : { Accept: accept } });
      const error = (await answer.json()) as object;
      assert.equal(answer.headers.get('content-type'), type, accept);
      assert.deepEqual(Object.keys(error), ['error', 'message', 'requestId', 'type', 'title', 'status']);

      const asked = accept === undefined ? '' : `Accept: ${accept}\r\n`;
      const long = `X-Long: ${'x'.repeat(20_000)}\r\n`;
      const broken = await raw(world.url, `GET / HTTP/1.1\r\nHost: a\r\n${asked}${long}\r\n`);
      assert.ok(broken.includes(`\r\nContent-Type: ${type}\r\n`), broken);
    }
  });

  it('answers 503 with Retry-After when a store or a chain’s nodes are away, and 500 without details when the program fails', async () => {
    const away = async () => {
      throw new Unavailable('connection to 10.0.0.7 refused', 2);
    };
    await withWorld({ createPayment: away, findApiKey: away }, async ({ call, keys }) => {
      const body = goodRequest({ appId: 'wallet_demo' });
      const { status, body: problem, headers } = await call('POST', base, { body });
      assert.deepEqual([status, problem.error, headers['retry-after']], [503, 'unavailable', '2']);
      assert.doesNotMatch(problem.message, /10\.0/);
      assert.equal((await call('POST', base, { body, headers: keys.wallet })).status, 503);
    });
    const nodes = () => Promise.reject(new ChainUnavailable(8453, []));
    await withWorld({ getPayment: nodes }, async ({ url }) => {
      const answer = await fetch(`${url}${base}/${id}`);
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '2']);
    });
    const foreign = new ChainBroken({
      stream: 'merchant-wallet_demo',
      revision: 3n,
      expected: 'a seal',
      found: 'none',
    });
    await withWorld({ createPayment: () => Promise.reject(foreign) }, async ({ call, keys }) => {
      const body = goodRequest({ appId: 'wallet_demo' });
      const { status, body: problem, headers } = await call('POST', base, { body, headers: keys.wallet });
      assert.deepEqual([status, problem.error, headers['retry-after']], [503, 'unavailable', '60']);
      assert.doesNotMatch(problem.message, /merchant-/);
    });
    await withWorld({ getPayment: () => Promise.reject(new Error('secret')) }, async ({ url }) => {
      const answer = await fetch(`${url}${base}/${id}`);
      const problem = (await answer.json()) as { error: string; message: string };
      assert.deepEqual([answer.status, problem.error], [500, 'internal']);
      assert.doesNotMatch(JSON.stringify(problem), /secret/);
    });
  });

  it('forgets a failed lookup at once', async () => {
    let away = true;
    const findApp = async (): Promise<null> => {
      if (away) throw new Unavailable('away');
      return null;
    };
    await withWorld({ findApp }, async ({ call }) => {
      const create = () => call('POST', base, { body: goodRequest({ appId: 'wallet_demo' }) });
      assert.equal((await create()).status, 503);
      away = false;
      assert.equal((await create()).status, 401);
    });
  });

  it('answers 503 at once when too many requests are in progress, but still answers health', async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<null>();
    const getPayment = () => {
      reached.resolve();
      return go.promise;
    };
    await withWorld({ getPayment, limits: { ...defaultLimits, concurrentMax: 1 } }, async ({ call }) => {
      const first = call('GET', `${base}/${id}`);
      await reached.promise;
      const second = await call('GET', `${base}/${id}`);
      assert.deepEqual([second.status, second.body.error], [503, 'unavailable']);
      assert.equal((await call('GET', '/healthz')).status, 200);
      go.resolve(null);
      assert.equal((await first).status, 404);
      assert.equal((await call('GET', `${base}/${id}`)).status, 404);
    });
  });

  it('lets requests in progress finish when it closes', async () => {
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<null>();
    const getPayment = () => {
      reached.resolve();
      return go.promise;
    };
    const closing = await startWorld({ getPayment });
    const answer = closing.call('GET', `${base}/${id}`);
    await reached.promise;
    const closed = closing.stop();
    await assert.rejects(raw(closing.url, ''), /ECONNREFUSED/);
    go.resolve(null);
    assert.equal((await answer).status, 404);
    await closed;
  });

  it('states in public whether it is ready, and nothing more', async () => {
    assert.deepEqual((await world.call('GET', '/readyz')).body, { ready: true });
    const readiness = async () => ({ ready: false, checks: { store: { ok: false, detail: 'no answer' } } });
    await withWorld({ readiness }, async ({ call }) => {
      const { status, body } = await call('GET', '/readyz');
      assert.deepEqual([status, body], [503, { ready: false }]);
    });
    assert.equal((await world.call('GET', '/metrics')).status, 404);
  });

  it('answers 300 concurrent readiness requests alike, queries the stores once, and lets honest requests through', async () => {
    let asked = 0;
    const go = Promise.withResolvers<void>();
    const readiness = async () => {
      asked += 1;
      await go.promise;
      return { ready: true, checks: {} };
    };
    await withWorld({ readiness, limits: { ...defaultLimits, concurrentMax: 1 } }, async ({ url, call, keys }) => {
      const all = Array.from({ length: 300 }, () => fetch(`${url}/readyz`));
      const signal = AbortSignal.timeout(patience_ms);
      assert.equal((await fetch(`${url}${base}/${id}`, { headers: keys.wallet, signal })).status, 404);
      go.resolve();
      for (const answer of await Promise.all(all)) {
        assert.deepEqual([answer.status, await answer.json()], [200, { ready: true }]);
      }
      assert.equal((await call('GET', '/readyz')).status, 200);
      assert.equal(asked, 1);
    });
  });

  it('queries the stores again after a second', async () => {
    let asked = 0;
    const readiness = async () => ({ ready: ++asked > 1, checks: {} });
    await withWorld({ readiness }, async ({ call, clock }) => {
      assert.equal((await call('GET', '/readyz')).status, 503);
      clock.advance(999);
      assert.equal((await call('GET', '/readyz')).status, 503);
      clock.advance(1);
      assert.equal((await call('GET', '/readyz')).status, 200);
    });
  });

  it('returns reasons and metrics at the operations port alone', async () => {
    const checks = { store: { ok: false, detail: 'no answer' } };
    const app = createOperationsApp({
      clock: world.clock,
      ids: randomIds,
      logger: pino({ level: 'silent' }),
      limits: defaultLimits,
      clients: createClients([]),
      rates: unlimited,
      readiness: async () => ({ ready: false, checks }),
      metrics: async () => 'up 1\n',
      names: ['ops.internal'],
    });
    const listening = { port: 0, host: '127.0.0.1', clients: createClients([]) };
    const server = await startHttp(app, { ...listening, setBy: ['OPERATIONS_PORT', 'OPERATIONS_HOST'] });
    try {
      const readiness = await fetch(`${server.url}/readyz`);
      assert.deepEqual([readiness.status, await readiness.json()], [503, { ready: false, checks }]);
      assert.equal(await (await fetch(`${server.url}/metrics`)).text(), 'up 1\n');
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
      assert.equal((await fetch(`${server.url}${base}/${id}`)).status, 404);
      const port = new URL(server.url).port;
      const asHost = async (host: string) =>
        (await rawAnswer(Number(port), `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(
          9,
          12,
        );
      for (const host of ['evil.example', 'evil.example:3001', '127.0.0.1.evil.example', 'a@evil.example'])
        assert.equal(await asHost(host), '403', host);
      for (const host of ['localhost', `127.0.0.1:${port}`, '[::1]:3001', 'service:3001', 'ops.internal:3001'])
        assert.equal(await asHost(host), '200', host);
    } finally {
      await server.close();
    }
  });

  it('counts each request in metrics by its pattern, never by its path', async () => {
    const seen: string[] = [];
    const observe: NonNullable<HttpDeps['observe']> = ({ method, route, status }) =>
      void seen.push(`${method} ${route} ${status}`);
    await withWorld({ observe }, async ({ call }) => {
      await call('GET', `${base}/${id}`);
      await call('PUT', base);
      await call('GET', '/nowhere/else');
    });
    // The client of these specs has read the document first.
    assert.equal(seen.shift(), 'GET /openapi.json 200');
    assert.deepEqual(seen, [`GET ${base}/{id} 404`, `PUT ${base} 405`, 'GET unmatched 404']);
  });
});

async function rawAnswer(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(request);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}
