/** The TypeScript client as shops install it: packed, installed into an empty folder, used in plain Node and in Chromium. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { signWebhook } from '../../commands/sendWebhook.ts';
import type { AppEvent } from '../../queries/feed.ts';
import { freePort } from '../../sandbox/freePort.ts';
import { goodRequest, receiver, startWorld, type World } from '../api/world.ts';
import { visitor } from '../support/chromium.ts';
import { created_at } from '../support/payments.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url).pathname;
const source = join(root, 'clients/typescript');
const vectors = JSON.parse(readFileSync(join(root, 'clients/webhook-vectors.json'), 'utf8'));

/** The program in a section of the package's README. */
function example(section: string): string {
  const [, text] = readFileSync(join(source, 'README.md'), 'utf8').split(`\n## ${section}\n`);
  return /```js\n([\s\S]*?)```/.exec(text ?? '')?.[1] ?? assert.fail(`the README has no program under ${section}`);
}

const paid = (n: number): AppEvent => ({
  ordinal: String(n),
  eventId: `0198f3c2-0000-8000-8000-${String(n).padStart(12, '0')}`,
  type: 'PayoutSettled',
  paymentId: '0198f3c2-0000-8000-8000-000000000001',
  orderId: `order ${n}`,
  revision: n,
  status: n % 2 ? 'payment_payout_completed' : 'payment_started',
  previousStatus: 'payment_started',
  errorCode: null,
  at: created_at,
});

describe('the TypeScript client, packed and installed', () => {
  let world: World;
  let shop: string;
  let packed: readonly string[];
  const events = [1, 2, 3, 4, 5].map(paid);

  before(async () => {
    world = await startWorld({
      feed: {
        events: async (_appId, { after, limit }) =>
          events.filter(({ ordinal }) => Number(ordinal) > Number(after)).slice(0, limit),
        lastOrdinal: async () => String(events.length),
        async *changes() {},
      },
    });
    const folder = temporaryDirectory();
    const copy = join(folder, 'client');
    shop = join(folder, 'shop');
    cpSync(source, copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
    mkdirSync(shop);
    writeFileSync(join(shop, 'package.json'), '{"name":"shop","private":true,"type":"module"}');
    const env = { ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_update_notifier: 'false' };
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', copy]);
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--loglevel=error'], { cwd: copy, env });
    const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
    packed = files.map(({ path }) => path);
    const options = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    await run('npm', ['install', ...options, join(copy, filename)], { cwd: shop, env });
  });
  after(() => world.stop());

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env['PATH'],
    PAYMENTS_URL: world.url,
    PAYMENTS_KEY: String(world.keys.wallet['X-API-Key']),
    PAYMENTS_ADMIN_KEY: String(world.keys.walletAdmin['X-API-Key']),
    RECEIVER: receiver,
    ...more,
  });
  async function runExample(section: string, more: Record<string, string> = {}): Promise<readonly string[]> {
    writeFileSync(join(shop, 'example.js'), example(section));
    const { stdout } = await run(process.execPath, ['example.js'], { cwd: shop, env: environment(more) });
    return stdout.trimEnd().split('\n');
  }
  const newPayment = async (): Promise<string> => {
    const body = goodRequest();
    return (await world.call('POST', '/payment-api/payments', { headers: world.keys.wallet, body })).body.id;
  };

  it('contains the build and nothing else, and needs no other package', () => {
    const extra = packed.filter((path) => !/^(package\.json|README\.md|LICENSE|dist\/[a-z]+\.(js|d\.ts))$/i.test(path));
    assert.deepEqual(extra, []);
    assert.ok(packed.includes('dist/index.js') && packed.includes('dist/index.d.ts'), packed.join());
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    assert.deepEqual([dependencies, peerDependencies], [undefined, undefined]);
  });

  it('names nothing of Node', () => {
    for (const path of packed.filter((name) => name.endsWith('.js'))) {
      const code = readFileSync(join(shop, 'node_modules/@payment-intents/client', path), 'utf8');
      assert.doesNotMatch(code, /\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/, path);
    }
  });

  it('has types under strict, also of its own declarations', async () => {
    writeFileSync(
      join(shop, 'typed.ts'),
      `import { createClient, type FeedEvent, type Payment, verifyWebhook } from '@payment-intents/client';
const client = createClient({ baseUrl: 'http://127.0.0.1' });
export const status: Promise<Payment['status']> = client.get('1').then((payment) => payment.status);
export async function first(): Promise<FeedEvent | undefined> {
  for await (const event of client.events({ load: () => null, save: () => {} })) return event;
  return undefined;
}
export const verdict = verifyWebhook({ headers: {}, body: '', secrets: [] }).then((it) => (it.ok ? it.event.event_id : it.reason));
// @ts-expect-error
export const wrong: Promise<number> = client.get('1');
`,
    );
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const tsc = [join(root, 'node_modules/typescript/bin/tsc'), ...options, '--types', '', 'typed.ts'];
    await run(process.execPath, tsc, { cwd: shop }).catch(({ stdout }: { stdout: string }) => assert.fail(stdout));
  });

  describe('runs the programs of its README in plain Node', () => {
    it('takes an order', async () => {
      const [toPay, isSame, refused] = await runExample('Take an order');
      assert.match(toPay ?? '', /^to pay: 10\.01 to 0x[0-9a-fA-F]{40}$/);
      assert.deepEqual([isSame, refused], ['true', 'invalidRequest /source/tokenSymbol']);
    });

    it('waits for a payment', async () => {
      const id = await newPayment();
      const waiting = runExample('Wait for a payment', { PAYMENT_ID: id });
      await world.expire(id);
      assert.deepEqual(await waiting, ['payment_expired']);
    });

    it('follows the feed, and continues from its cursor', async () => {
      const read = () => JSON.parse(readFileSync(join(shop, 'shop.json'), 'utf8'));
      await runExample('Follow everything that happens', { WAIT_S: '0' });
      assert.deepEqual([read().cursor, Object.values(read().fulfilled)], ['5', ['order 1', 'order 3', 'order 5']]);
      events.push(paid(6), paid(7));
      await runExample('Follow everything that happens', { WAIT_S: '0' });
      assert.deepEqual(Object.values(read().fulfilled), ['order 1', 'order 3', 'order 5', 'order 7']);
    });

    it('receives webhooks', async () => {
      const secret = 'cd'.repeat(32);
      const port = await freePort();
      writeFileSync(join(shop, 'webhooks.js'), example('Take webhooks'));
      const env = environment({ WEBHOOK_SECRET: secret, PORT: String(port) });
      const program = spawn(process.execPath, ['webhooks.js'], {
        cwd: shop,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await listens(program);
        const [now_ms, deliveryId] = [Date.now(), crypto.randomUUID()];
        const body = JSON.stringify({ event_id: deliveryId });
        const { signature } = signWebhook({ deliveryId, body: Buffer.from(body), secret }, now_ms);
        const headers = { 'x-service-timestamp': String(now_ms), 'x-service-signature': signature };
        const post = (sent: string) => fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: sent });
        assert.equal((await post(body)).status, 204);
        const refused = await post(`${body} `);
        assert.deepEqual([refused.status, await refused.text()], [401, 'invalid_signature']);
      } finally {
        program.kill();
      }
    });
  });

  it('reads payments and checks signatures in a browser, on a page of another origin, without a key', async () => {
    const id = await newPayment();
    await using pages = await servePage(join(shop, 'node_modules/@payment-intents/client/dist'));
    const { page, leave } = await visitor(pages.url, { besides: [world.url] });
    await page.goto('/');
    // A string, because it runs in the page.
    const seen = await page.evaluate(`(async () => {
      const { createClient, verifyWebhook } = await import('/index.js');
      const payments = createClient({ baseUrl: '${world.url}' });
      const vectors = ${JSON.stringify(vectors)};
      const verdicts = [];
      for (const { body, ...vector } of vectors) {
        const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
        const verdict = await verifyWebhook({ ...vector, body: bytes });
        verdicts.push(verdict.ok ? 'ok' : verdict.reason);
      }
      const waited = await payments.waitFor('${id}', { until: 'payment_unpaid' });
      return { id: waited.id, verdicts, missing: await payments.get(crypto.randomUUID()).catch(({ code }) => code) };
    })()`);
    assert.deepEqual(seen, {
      id,
      verdicts: vectors.map(({ verdict }: { verdict: string }) => verdict),
      missing: 'paymentNotFound',
    });
    await leave();
  });
});

/** Serves an empty page beside the client's files. */
async function servePage(folder: string) {
  const server = createServer(({ url = '/' }, response) => {
    const isScript = /^\/[a-z]+\.js$/.test(url);
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? readFileSync(join(folder, url)) : '<!doctype html><link rel="icon" href="data:,">');
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return (server.address() as AddressInfo).port;
}

const listens = (program: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    program.stdout?.once('data', resolve);
    program.once('exit', () => reject(new Error('the program ended before it listened')));
  });
