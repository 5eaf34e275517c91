/** `npm run listen`: a developer's program gets the sandbox's webhooks unchanged, and none is lost while it is down. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signWebhook } from '../../commands/sendWebhook.ts';
import { freePort } from '../../sandbox/freePort.ts';
import { requestBody } from '../../sandbox/requestBody.ts';
import { verifyWebhook } from '../../sandbox/verifyWebhook.ts';
import { onStop } from '../support/hooks.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const program = join(import.meta.dirname, '../../sandbox/listen.ts');
const secret = 'ab'.repeat(32);
const id = '0198f3c2-0000-8000-8000-000000000001';

describe('npm run listen', () => {
  let dataDir: string;
  let log: string;
  let port: number;
  beforeEach(async () => {
    dataDir = temporaryDirectory();
    log = join(dataDir, 'webhook.log');
    port = await freePort();
    const webhook = { url: 'https://127.0.0.1:1/webhooks', log };
    writeFileSync(join(dataDir, 'sandbox.json'), JSON.stringify({ baseUrl: 'http://127.0.0.1:9', webhook }));
  });

  /** Writes the record that the sandbox's receiver writes for a webhook. */
  function arrives(deliveryId: string): void {
    const body = JSON.stringify({
      event_id: deliveryId,
      type: 'payment_payin_completed',
      data: { id, note: 'Käse ☕' },
    });
    const now_ms = Date.now();
    const { signature } = signWebhook({ deliveryId, body: Buffer.from(body), secret }, now_ms);
    const headers = {
      host: '127.0.0.1:1',
      connection: 'close',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-service-timestamp': String(now_ms),
      'x-service-signature': signature,
    };
    appendFileSync(
      log,
      `${JSON.stringify({ receivedAt: new Date(now_ms).toISOString(), headers, body, valid: true })}\n`,
    );
  }

  /** @param status answers of the developer's program, in turn; 200 after the last */
  async function developer(...status: number[]) {
    const got: { headers: IncomingHttpHeaders; body: string; path: string | undefined }[] = [];
    const server: Server = createServer(async (request, response) => {
      got.push({ headers: request.headers, body: (await requestBody(request, 100_000)) ?? '', path: request.url });
      response.writeHead(status.shift() ?? 200, { Location: '/elsewhere' }).end();
    });
    await once(server.listen(port, '127.0.0.1'), 'listening');
    const close = async () => void server.close();
    onStop(close);
    return { got, close, ids: () => got.map(({ body }) => JSON.parse(body).event_id) };
  }

  function listen(...more: string[]) {
    const args = [program, '--forward', `http://127.0.0.1:${port}/hooks`, ...more];
    const child: ChildProcess = spawn(process.execPath, args, { env: { ...process.env, DATA_DIR: dataDir } });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text));
    onStop(async () => void child.kill('SIGKILL'));
    const says = async (pattern: RegExp) => {
      while (!pattern.test(printed)) {
        assert.equal(child.exitCode, null, printed);
        await sleep(20);
      }
    };
    const stop = async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    };
    return { says, stop, ended: () => once(child, 'exit'), printed: () => printed };
  }

  it('forwards the original bytes and headers, so that the signature is valid, and prints a line for each', async () => {
    arrives('before');
    const { got } = await developer();
    const listening = listen();
    await listening.says(/webhooks of http:\/\/127\.0\.0\.1:9 → /);
    arrives('one');
    await listening.says(
      new RegExp(`\\d\\d:\\d\\d:\\d\\d\\.\\d{3} {2}payment_payin_completed +${id} {2}200 {2}\\d+ ms\\n`),
    );
    await listening.stop();
    const [only] = got;
    assert.equal(got.length, 1);
    assert.equal(only?.path, '/hooks');
    assert.equal(only?.headers.host, `127.0.0.1:${port}`);
    const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = only?.headers ?? {};
    const sent = { timestamp: String(timestamp), signature: String(signature) };
    assert.equal(verifyWebhook(sent, Buffer.from(only?.body ?? ''), [secret], Date.now()), 'valid');
  });

  it('reports refused webhooks, keeps them over a kill, and sends them again on request, once', async () => {
    const first = listen();
    await first.says(/→ /);
    arrives('nobody');
    await first.says(/ECONNREFUSED .*not taken/);
    const { ids } = await developer(500, 302);
    for (const name of ['failed', 'led elsewhere', 'taken']) arrives(name);
    await first.says(/ 500 .*not taken.* 302 .*not taken.* 200 /s);
    await first.stop();
    arrives('meanwhile');

    const second = listen();
    await second.says(/4 of before were not taken/);
    await second.stop();
    assert.deepEqual(ids(), ['failed', 'led elsewhere', 'taken']);

    const third = listen('--redeliver');
    await third.says(/( 200 .*){4}/s);
    await third.stop();
    assert.deepEqual(ids().slice(3), ['nobody', 'failed', 'led elsewhere', 'meanwhile']);
    const fourth = listen('--redeliver');
    await fourth.says(/→ /);
    arrives('last');
    await fourth.says(/ 200 /);
    await fourth.stop();
    assert.deepEqual(ids().slice(7), ['last']);
  });

  it('starts again where the log was emptied', async () => {
    arrives('old');
    const { ids } = await developer();
    const first = listen();
    await first.says(/→ /);
    await first.stop();
    writeFileSync(log, '');
    const second = listen();
    await second.says(/→ /);
    arrives('new');
    await second.says(/ 200 /);
    await second.stop();
    assert.deepEqual(ids(), ['new']);
  });

  it('needs an address that it can forward to, and a sandbox', async () => {
    for (const [more, words] of [
      [['--forward', 'ftp://127.0.0.1/'], /Not an http:/],
      [['--forward', 'nowhere'], /Not an http:/],
    ] as const) {
      const refused = listen(...more);
      const [code] = await refused.ended();
      assert.equal(code, 1);
      assert.match(refused.printed(), words);
    }
    dataDir = temporaryDirectory();
    const alone = listen();
    const [code] = await alone.ended();
    assert.equal(code, 1);
    assert.match(alone.printed(), /no sandbox runs on/);
  });
});
