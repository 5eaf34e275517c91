/** The log of API requests for an app's developers: it holds no secret, it is bounded, and no other app reads or fills it. */
import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import { type ApiRequestFilter, listApiRequests } from '../../queries/apiRequests.ts';
import { createRequestLog, keptRequestsMax, type RequestLog } from '../../src/api/middleware.ts';
import { randomIds } from '../../src/process/system.ts';
import { newApiKey } from '../../src/security/apiKey.ts';
import { freshDatabase } from '../support/postgres.ts';
import { Jar } from './desk.ts';
import { base } from './twoApps.ts';
import { goodRequest, startWorld, steppedClock, type World } from './world.ts';

type Sql = Awaited<ReturnType<typeof freshDatabase>>;

describe('the log of API requests', () => {
  const clock = steppedClock();
  let sql: Sql;
  let log: RequestLog;
  let world: World;
  let isDown = false;
  before(async () => {
    sql = await freshDatabase();
    const failing = {
      query: ((...args: Parameters<Sql['query']>) =>
        isDown ? Promise.reject(new Error('Postgres is away')) : sql.query(...args)) as Sql['query'],
    };
    log = createRequestLog({ sql: failing, clock, ids: randomIds });
    world = await startWorld({
      record: log.record,
      async listApiRequests(appId, asked) {
        await log.write();
        return listApiRequests(sql, appId, asked);
      },
    });
  });
  after(() => world.stop());
  afterEach(() => sql.query('DELETE FROM ops.api_requests'));

  async function listed(appId: string, asked: Partial<ApiRequestFilter> = {}) {
    await log.write();
    const page = await listApiRequests(sql, appId, { limit: 2_000, ...asked });
    return isRefusal(page) ? assert.fail(page.message) : page.requests;
  }
  const record = (appId: string, requestId: string) =>
    log.record({
      ...{ appId, requestId, caller: 'key:k', method: 'GET', route: '/r', status: 200 },
      error: null,
      durationMs: 1,
    });

  it('has key, method, route, status, error, request id and duration of successes and failures', async () => {
    const headers = { ...world.keys.wallet, 'X-Request-Id': 'till-1' };
    assert.equal((await world.call('POST', base, { headers, body: goodRequest() })).status, 201);
    const bad = { ...world.keys.wallet, 'X-Request-Id': 'till-2' };
    assert.equal((await world.call('POST', base, { headers: bad, body: { type: 'nothing' } })).status, 400);
    clock.advance(1_000);
    assert.equal((await world.call('GET', `${base}?limit=1`, { headers: world.keys.wallet })).status, 403);
    const found = await listed('wallet_demo');
    assert.deepEqual(found.map(({ method, route, status, error }) => [method, route, status, error]).toSorted(), [
      ['GET', base, 403, 'scope_insufficient'],
      ['POST', base, 201, null],
      ['POST', base, 400, 'invalidRequest'],
    ]);
    assert.ok(found.every(({ caller, durationMs }) => /^key:[0-9a-f-]{36}$/.test(caller) && durationMs >= 0));
    assert.equal((await listed('wallet_demo', { failed: true })).length, 2);
    assert.equal((await listed('wallet_demo', { caller: 'key:another' })).length, 0);
    const ann = new Jar(world.url);
    ann.cookies.set('__Host-session', 'ann.session.token');
    const page = await ann.get('/dashboard/apps/wallet_demo/requests?show=failed');
    assert.ok(page.text.includes('till-2') && !page.text.includes('till-1'), page.text);
  });

  it('stores no secret that a client sends in a query, a path, a header, a body or as the id of its request', async () => {
    const secret = 's3cr3t-of-the-client';
    const { key } = newApiKey('test');
    const headers = { ...world.keys.walletAdmin, 'User-Agent': secret, Cookie: `token=${secret}` };
    await world.call('GET', `${base}?limit=1&token=${secret}&api_key=${key}`, { headers });
    await world.call('GET', `${base}/${secret}`, { headers });
    await world.call('GET', `/nowhere/${secret}?${secret}`, { headers });
    await world.call('POST', base, { headers, body: goodRequest({ metadata: { secret }, [secret]: secret }) });
    for (const id of [key, world.keys.walletAdmin['X-API-Key'] ?? '', 'eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.c2ln'])
      await world.call('GET', `${base}?limit=1`, { headers: { ...headers, 'X-Request-Id': id } });
    assert.ok((await listed('wallet_demo')).length >= 6);
    const rows = JSON.stringify(await sql.query('SELECT * FROM ops.api_requests'));
    for (const text of [secret, 'pi_', 'eyJ', '127.0.0.1']) assert.equal(rows.includes(text), false, text);
  });

  it('holds nothing of a request whose key is not accepted, so nobody fills the log of an app', async () => {
    for (const key of [newApiKey().key, 'pi_live_guess', ''])
      await world.call('GET', `${base}?limit=1`, { headers: { 'X-API-Key': key, 'X-App-Id': 'wallet_demo' } });
    await log.write();
    assert.deepEqual(await sql.query('SELECT * FROM ops.api_requests'), []);
  });

  it('keeps the newest 1,000 requests of each app, whatever another app sends', async () => {
    record('wallet_closed', 'quiet');
    for (let i = 0; i < 12_000; i += 1) {
      if (i % 1_000 === 0) clock.advance(1);
      record('wallet_demo', `r-${i}`);
    }
    await log.write();
    clock.advance(1);
    for (let i = 0; i < 300; i += 1) record('wallet_demo', `later-${i}`);
    const found = await listed('wallet_demo');
    assert.equal(found.length, keptRequestsMax);
    assert.equal(found.filter(({ requestId }) => requestId.startsWith('later')).length, 300);
    assert.deepEqual(
      (await listed('wallet_closed')).map(({ requestId }) => requestId),
      ['quiet'],
    );
  });

  it('survives a failing write within its bound, and a request never waits for it', async () => {
    isDown = true;
    record('wallet_demo', 'before');
    await assert.rejects(log.write());
    record('wallet_demo', 'after');
    for (let app = 0; app < 20_000; app += 1) record(`wallet_${app}`, 'flood');
    isDown = false;
    assert.deepEqual((await listed('wallet_demo')).map(({ requestId }) => requestId).toSorted(), ['after', 'before']);
    const [count] = await sql.query<{ n: number }>('SELECT count(*)::int AS n FROM ops.api_requests');
    assert.equal(count?.n, 10_000);
  });
});
