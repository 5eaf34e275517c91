import assert from 'node:assert/strict';
import pino from 'pino';
import { fold } from '../../domain/decider.ts';
import { rebalance } from '../../domain/rebalance/rebalance.ts';
import { createOperationsApp } from '../../src/api/app.ts';
import { floatProgress } from '../../src/api/floats.ts';
import { defaultLimits } from '../../src/api/middleware.ts';
import { createClients, unlimited } from '../../src/api/rateLimits.ts';
import { type HttpServer, startHttp } from '../../src/api/server.ts';
import { randomIds } from '../../src/process/system.ts';
import { createLogger, createTelemetry } from '../../src/process/telemetry.ts';
import { createOperatorPages, type FloatsModel } from '../../web/operations/floats.ts';
import { minute } from '../support/payments.ts';
import { burnConfirmed, burnSigned, ordered } from '../support/rebalances.ts';

const empty: FloatsModel = {
  ...{ mode: 'live', policy: 'off', lines: [], open: [], alarms: [], failed: [] },
  limits: new Map(),
};
const hostile = '<script>alert(1)</script>\u202e"\'&';

describe('pages of the operations port', () => {
  let server: HttpServer;
  let model: FloatsModel = empty;
  before(async () => {
    const clients = createClients([]);
    const app = createOperationsApp({
      ...{ clock: { now: () => minute(0) }, ids: randomIds, logger: pino({ level: 'silent' }) },
      ...{ limits: defaultLimits, clients, rates: unlimited },
      readiness: async () => ({ ready: true, checks: {} }),
      metrics: async () => '',
      pages: [createOperatorPages({ floats: async () => model })],
    });
    server = await startHttp(app, {
      ...{ port: 0, host: '127.0.0.1', clients },
      setBy: ['OPERATIONS_PORT', 'OPERATIONS_HOST'],
    });
  });
  after(() => server.close());
  const get = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, { redirect: 'manual', ...init });

  it('show floats to a browser, can only be read, and are never kept', async () => {
    const page = await get('/floats');
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    const text = await page.text();
    assert.match(text, /<h1>Floats<\/h1>/);
    assert.doesNotMatch(text, /<form/);
    const [, sheet = ''] = /href="([^"]+look[^"]+)"/.exec(text) ?? [];
    assert.equal((await get(sheet)).status, 200);
    assert.equal((await get('/floats', { method: 'POST' })).status, 405);
    const front = await get('/');
    assert.deepEqual([front.status, front.headers.get('location')], [302, '/floats']);
    assert.equal((await get('/dashboard')).status, 404);
  });

  it('display the texts of others as texts', async () => {
    const state = fold(rebalance, [ordered()]);
    assert.ok(state);
    model = {
      ...empty,
      open: [{ id: hostile, state: { ...state, ordered: { ...state.ordered, reason: hostile, by: hostile } } }],
      alarms: [{ reason: hostile, count: 1, message: hostile }],
      failed: [
        { worker: hostile, key: hostile, attempts: 1, since: minute(0), parked: true, error: hostile.repeat(99) },
      ],
    };
    const text = await (await get('/floats')).text();
    assert.doesNotMatch(text, /<script>|\u202e/);
    assert.match(text, /&lt;script>alert\(1\)&lt;\/script>/);
    model = empty;
  });
});

describe('metrics of floats', () => {
  it('have the parts and limits of each float, and open moves by state', async () => {
    const state = fold(rebalance, [ordered(), burnSigned(), burnConfirmed()]);
    assert.ok(state);
    const view = { chainId: 1, float: 1_500_000n, reserved: 500_000n, inTransit: 2_000_000n } as const;
    const views = [{ ...view, outflow_day: 0n, outflow_week: 0n }];
    const floats = new Map([[1 as const, { minimum: 1_000_000n, target: 2_000_000n, maximum: 3_000_000n }]]);
    const telemetry = createTelemetry(createLogger('silent'));
    telemetry.observeFloats(floatProgress({ views, open: [{ id: 'a', state }] }, { floats }));
    const text = await telemetry.registry.metrics();
    const lines = text.split('\n').filter((line) => /^pi_(float_usdc|rebalances_open)\{/.test(line));
    assert.deepEqual(lines.toSorted(), [
      'pi_float_usdc{chain="1",part="held"} 1.5',
      'pi_float_usdc{chain="1",part="inTransit"} 2',
      'pi_float_usdc{chain="1",part="maximum"} 3',
      'pi_float_usdc{chain="1",part="minimum"} 1',
      'pi_float_usdc{chain="1",part="reserved"} 0.5',
      'pi_float_usdc{chain="1",part="target"} 2',
      'pi_rebalances_open{state="burned"} 1',
    ]);
    telemetry.alarm('floatLow', {}, 'first');
    telemetry.alarm('floatLow', {}, 'second');
    assert.deepEqual(telemetry.raisedAlarms(), [{ reason: 'floatLow', count: 2, message: 'second' }]);
  });
});
