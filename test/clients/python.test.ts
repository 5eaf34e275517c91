/** The Python module against the vectors of the TypeScript client, and the programs of its README. Skipped without python3. */
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { signWebhook } from '../../commands/sendWebhook.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const run = promisify(execFile);
const clients = new URL('../../clients/', import.meta.url).pathname;
const vectors: readonly { what: string; scheme: string; verdict: string }[] = JSON.parse(
  readFileSync(join(clients, 'webhook-vectors.json'), 'utf8'),
);

function example(section: string): string {
  const [, text] = readFileSync(join(clients, 'python/README.md'), 'utf8').split(`\n## ${section}\n`);
  return /```python\n([\s\S]*?)```/.exec(text ?? '')?.[1] ?? assert.fail(`the README has no program under ${section}`);
}

const verifier = `
import base64, json
from payment_intents import WebhookRefused, verify_webhook
def verdict(c):
    try:
        verify_webhook(c["headers"], base64.b64decode(c["body"]), c["secrets"], c["now_ms"])
        return "ok"
    except WebhookRefused as refused:
        return refused.reason
print(json.dumps([verdict(c) for c in json.load(open("vectors.json", encoding="utf-8"))]))
`;

/** Reads the whole feed, with a restart after each stop at an event; then prints the requests, the handled events and the pauses. */
const reader = `
import json, os
from payment_intents import PaymentsError, event_page, events
cursor, handled, slept = [None], [], []
def read(fall_at):
    left = [fall_at]
    def falls():
        left[0] -= 1
        if left[0] == 0: raise KeyboardInterrupt
    def save(now):
        falls()
        cursor[0] = now
    url = os.environ["PAYMENTS_URL"]
    for event in events(url, "key", lambda: cursor[0], save, lambda i: i in handled, wait_s=0, sleep=slept.append):
        falls()
        handled.append(event["eventId"])
for life in range(100):
    try:
        read(1 + life % 7)
        break
    except KeyboardInterrupt:
        pass
def code(after):
    try:
        return len(event_page(os.environ["PAYMENTS_URL"], "key", after, sleep=slept.append)["data"])
    except PaymentsError as error:
        return [error.code, error.status, [f["pointer"] for f in error.fields]]
slept.clear()
print(json.dumps({"handled": handled, "cursor": cursor[0], "codes": [code(c) for c in ["refuse", "redirect", "busy", "cut", "long"]], "slept": slept}))
`;

describe('the Python module', () => {
  let folder: string;
  let url: string;
  const server = createServer((request, response) => feed(request, response));
  const events = Array.from({ length: 25 }, (_, n) => ({
    ordinal: String(n + 1),
    eventId: `event-${n + 1}`,
    orderId: `order ${n + 1}`,
    status: n % 5 ? 'payment_started' : 'payment_payout_completed',
    previousStatus: 'payment_unpaid',
  }));

  before(async function () {
    if (spawnSync('python3', ['--version']).status !== 0) {
      process.stderr.write('no python3 here: the Python module is not tried\n');
      this.skip();
    }
    folder = temporaryDirectory();
    copyFileSync(join(clients, 'python/payment_intents.py'), join(folder, 'payment_intents.py'));
    copyFileSync(join(clients, 'webhook-vectors.json'), join(folder, 'vectors.json'));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    PYTHONDONTWRITEBYTECODE: '1',
    PAYMENTS_URL: url,
    PAYMENTS_ADMIN_KEY: 'key',
    ...more,
  });
  async function python(program: string, more: Record<string, string> = {}): Promise<string> {
    writeFileSync(join(folder, 'program.py'), program);
    return (await run('python3', ['program.py'], { cwd: folder, env: environment(more) })).stdout.trim();
  }

  it('accepts and refuses every vector as the TypeScript client does', async () => {
    const verdicts = JSON.parse(await python(verifier)) as string[];
    assert.equal(verdicts.length, vectors.length);
    for (const [n, { what, scheme, verdict }] of vectors.entries())
      assert.equal(verdicts[n], verdict, `${scheme}: ${what}`);
  });

  it('reads every event once though it is restarted at each moment; retries where that may help, and follows no redirect', async () => {
    const seen = JSON.parse(await python(reader));
    assert.deepEqual(
      seen.handled,
      events.map(({ eventId }) => eventId),
    );
    assert.equal(seen.cursor, '25');
    assert.deepEqual(seen.codes, [
      ['invalidRequest', 400, ['/after']],
      ['unreadableAnswer', 302, []],
      0,
      0,
      ['unreadableAnswer', 503, []],
    ]);
    const [busy, cut, ...more] = seen.slept;
    assert.ok(busy >= 7 && busy <= 7.5 && cut <= 0.5 && more.length === 0, String(seen.slept));
  });

  it('runs as its README states: follows the feed and continues from its cursor', async () => {
    const read = () => JSON.parse(readFileSync(join(folder, 'shop.json'), 'utf8'));
    await python(example('Follow everything that happens'), { WAIT_S: '0' });
    assert.deepEqual([read().cursor, Object.keys(read().fulfilled).length], ['25', 5]);
    await python(example('Follow everything that happens'), { WAIT_S: '0' });
    assert.equal(Object.keys(read().fulfilled).length, 5);
  });

  it('runs as its README states: verifies a webhook', () => {
    const [secret, now_ms, deliveryId] = ['ef'.repeat(32), Date.now(), crypto.randomUUID()];
    const body = JSON.stringify({ event_id: deliveryId });
    const { signature } = signWebhook({ deliveryId, body: Buffer.from(body), secret }, now_ms);
    const env = environment({ WEBHOOK_SECRET: secret, TIMESTAMP: String(now_ms), SIGNATURE: signature });
    writeFileSync(join(folder, 'webhook.py'), example('Verify a webhook'));
    const answered = (input: string) =>
      execFileSync('python3', ['webhook.py'], { cwd: folder, env, input, encoding: 'utf8' }).trim();
    assert.equal(answered(body), `store ${deliveryId}`);
    assert.equal(answered(`${body} `), 'answer 401 invalid_signature');
  });

  const asked = new Map<string, number>();
  /** Pages of ten events, like the service's, and faults by cursor. */
  const feed: RequestListener = (request, response) => {
    const after = new URL(request.url ?? '', 'http://x').searchParams.get('after') ?? '0';
    const times = (asked.get(after) ?? 0) + 1;
    asked.set(after, times);
    const json = (status: number, body: object) => void response.writeHead(status).end(JSON.stringify(body));
    if (request.headers['x-api-key'] !== 'key') return json(401, { error: 'unauthenticated', message: 'who?' });
    const refusal = { error: 'invalidRequest', message: 'no', errors: [{ pointer: '/after', message: 'no' }] };
    if (after === 'refuse') return json(400, refusal);
    if (after === 'redirect') return void response.writeHead(302, { Location: `${url}/elsewhere` }).end();
    if (after === 'long') return void response.writeHead(503, { 'Retry-After': '3600' }).end();
    if (after === 'busy' && times === 1) return void response.writeHead(429, { 'Retry-After': '7' }).end();
    if (after === 'cut' && times === 1) return void response.destroy();
    const from = /^\d+$/.test(after) ? Number(after) : events.length;
    const data = events.slice(from, from + 10);
    return json(200, { data, hasMore: from + 10 < events.length, nextCursor: data.at(-1)?.ordinal ?? String(from) });
  };
});
