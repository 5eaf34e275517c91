import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Unavailable } from '../../commands/ports.ts';
import type { CsvFilter } from '../../queries/paymentsCsv.ts';
import { type ExportLimits, limitExports } from '../../src/api/reports.ts';
import { startWorld, type World } from './world.ts';

describe('HTTP: payments as CSV', () => {
  let world: World;
  let asked: CsvFilter[];
  let made: number;
  afterEach(() => world.stop());

  /** Starts a server whose export yields these lines on demand. */
  const given = async (lines: () => AsyncGenerator<string>, limits?: ExportLimits) => {
    asked = [];
    made = 0;
    const rows = async function* (filter: CsvFilter) {
      asked.push(filter);
      for await (const line of lines()) {
        made += 1;
        yield line;
      }
    };
    world = await startWorld({ exportPayments: limitExports(rows, limits) });
  };
  const three = async function* () {
    yield* ['"a"\r\n', '"b"\r\n', '"c"\r\n'];
  };
  const endless = async function* () {
    for (;;) yield `"${'x'.repeat(64_000)}"\r\n`;
  };
  const ask = (query = '', key = world.keys.walletAdmin) =>
    world.call('GET', `/merchant-api/me/payments.csv${query}`, { headers: key });
  /** Begins to read an export, and then stops reading. */
  const lazyReader = async () => {
    const reader = request(`${world.url}/merchant-api/me/payments.csv`, { headers: world.keys.walletAdmin });
    reader.on('error', () => {});
    reader.end();
    const [answer] = (await once(reader, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    return { status: answer.statusCode, leave: () => void reader.destroy() };
  };
  /**
   * Waits until the number of produced lines stops growing: no event reports that production has paused. Between two checks the process
   * reads its sockets 20 times, however slow it is.
   */
  const settled = async () => {
    for (let before = -1; before !== made; ) {
      before = made;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  it('is a file to save, of the key’s app', async () => {
    await given(three);
    const answer = await ask();
    assert.deepEqual([answer.status, answer.text], [200, '"a"\r\n"b"\r\n"c"\r\n']);
    assert.match(String(answer.headers['content-type']), /^text\/csv; charset=utf-8/);
    assert.equal(answer.headers['content-disposition'], 'attachment; filename="payments-wallet_demo.csv"');
    assert.equal(asked[0]?.appId, 'wallet_demo');
    assert.equal((await ask('', world.keys.wallet)).status, 403);
    assert.equal((await ask('', {})).status, 401);
  });

  it('accepts a period, or the filters of a list, times in UTC; never both', async () => {
    await given(three);
    await ask('?period=30d');
    await ask('?status=payment_expired&createdAfter=2026-11-21T10:00:00%2B01:00');
    const both = await ask('?period=30d&status=payment_expired');
    assert.deepEqual(asked, [
      { appId: 'wallet_demo', period: '30d' },
      { appId: 'wallet_demo', status: 'payment_expired', createdAfter: '2026-11-21T09:00:00.000Z' },
    ]);
    assert.deepEqual([both.status, both.body.errors[0].pointer], [400, '/period']);
    for (const period of ['', '1y', 'Today', '30', '7d,30d', "today'"]) {
      const refused = await world.call('GET', `/merchant-api/me/stats?period=${period}`, {
        headers: world.keys.walletAdmin,
      });
      assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, '/period'], period);
    }
    for (const [query, pointer] of [
      ['?period=1y', '/period'],
      ['?limit=5', '/limit'],
      ['?cursor=x', '/cursor'],
    ] as const) {
      const refused = await ask(query);
      assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, pointer]);
    }
  });

  it('is answered with 503 when nothing can be read, and breaks off if that happens later', async () => {
    const away = (): never => {
      throw new Unavailable('Postgres is away');
    };
    await given(async function* () {
      yield away();
    });
    assert.equal((await ask()).status, 503);
    await world.stop();
    await given(async function* () {
      yield '"a"\r\n';
      yield away();
    });
    const broken = fetch(`${world.url}/merchant-api/me/payments.csv`, { headers: world.keys.walletAdmin });
    await assert.rejects(broken.then((answer) => answer.text()));
  });

  it('is produced as fast as it is read: without a reader nothing is produced', async () => {
    await given(endless);
    const reader = await lazyReader();
    await settled();
    const before = made;
    assert.ok(before < 1_000, `${before} pieces`);
    assert.equal(
      (await world.call('GET', '/merchant-api/me/stats?period=today', { headers: world.keys.walletAdmin })).status,
      200,
    );
    assert.equal(made, before);
    reader.leave();
  });

  it('runs a few times at once for an app and in all; an ended or lost connection frees a place', async () => {
    await given(endless, { perApp: 1, perInstance: 2 });
    const reader = await lazyReader();
    const refused = await ask();
    assert.deepEqual(
      [refused.status, refused.body.error, 'retry-after' in refused.headers],
      [429, 'rateLimited', true],
    );
    reader.leave();
    let next = await lazyReader();
    while (next.status === 429) next = await lazyReader();
    assert.equal(next.status, 200);
    next.leave();
  });
});
