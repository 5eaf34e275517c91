import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import type { WebhookMessage } from '../../commands/sendWebhook.ts';
import { createAddressCheck } from '../../src/security/publicAddress.ts';
import { createWebhookPost, resolveNames, type WebhookPostDeps } from '../../src/workers/webhooks/webhookPost.ts';
import { onStop } from '../support/hooks.ts';
import { startNameServer } from '../support/nameServer.ts';
import { patience_ms } from '../support/patience.ts';
import { startSlowAccept } from '../support/slowAccept.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { startTlsServer, testCertificate } from '../support/tlsServer.ts';

const allowed = ['127.0.0.1/32'];

const headers = { 'Content-Type': 'application/json', 'X-Service-Timestamp': '1795000000123' };
const message = (url: string, body = '{"event_id":"1"}'): WebhookMessage => ({ url, headers, body: Buffer.from(body) });

async function postWith(more: Partial<WebhookPostDeps> = {}) {
  const { cert } = await testCertificate();
  const resolve = async () => ['127.0.0.1'];
  return createWebhookPost({ isAllowed: createAddressCheck(allowed), resolve, extraCa: [cert], ...more });
}

const answering = (text: string) => (socket: TLSSocket) => void socket.end(text);
const ok = answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
const failure = (error: string, sent = false) => ({ statusCode: null, error, responsePreview: null, sent });

describe('webhook POST', () => {
  describe('request', () => {
    it('is one POST with exactly the given headers and body', async () => {
      const server = await startTlsServer(ok);
      const post = await postWith();
      const body = '{"data":{"title":"Brötchen 🥐"}}';
      const answer = await post(message(`https://127.0.0.1:${server.port}/hooks?shop=1`, body));

      assert.deepEqual(answer, { statusCode: 200, error: null, responsePreview: 'ok', sent: true });
      assert.equal(server.requests.length, 1);
      const [head = '', received = ''] = (server.requests[0] ?? '').split('\r\n\r\n');
      assert.deepEqual(Buffer.from(received, 'latin1'), Buffer.from(body));
      const lines = head.split('\r\n');
      assert.equal(lines[0], 'POST /hooks?shop=1 HTTP/1.1');
      assert(lines.includes('Content-Type: application/json'));
      assert(lines.includes('X-Service-Timestamp: 1795000000123'));
      assert(lines.includes(`Content-Length: ${Buffer.byteLength(body)}`));
    });

    it('is not repeated when the receiver cuts the connection', async () => {
      const server = await startTlsServer((socket) => socket.destroy());
      const post = await postWith();
      assert.deepEqual(await post(message(`https://127.0.0.1:${server.port}/`)), failure('connection', true));
      assert.deepEqual([server.connections, server.requests.length], [1, 1]);
    });

    for (const url of ['http://127.0.0.1/', 'https://user:pass@127.0.0.1/', 'ftp://127.0.0.1/', 'bakery', '']) {
      it(`is not made to "${url}"`, async () => {
        const post = await postWith();
        assert.deepEqual(await post(message(url)), failure('badUrl'));
      });
    }
  });

  describe('addresses', () => {
    const reached = async (url: (port: number) => string, more: Partial<WebhookPostDeps>) => {
      const server = await startTlsServer(ok);
      const answer = await (await postWith(more))(message(url(server.port)));
      return { answer, connections: server.connections };
    };

    it('are refused if they are not public and the URL spells them', async () => {
      const isAllowed = createAddressCheck([]);
      for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '[64:ff9b::7f00:1]']) {
        const { answer, connections } = await reached((port) => `https://${host}:${port}/`, { isAllowed });
        assert.deepEqual([answer, connections], [failure('blockedAddress'), 0], host);
      }
    });

    it('are all refused when one of a name’s answers is not public', async () => {
      for (const bad of ['10.0.0.1', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fd00::1']) {
        const resolve = async () => ['127.0.0.1', bad];
        const { answer, connections } = await reached((port) => `https://localhost:${port}/`, { resolve });
        assert.deepEqual([answer, connections], [failure('blockedAddress'), 0], bad);
      }
    });

    it('are looked up once: a name that changes afterwards reaches nothing else', async () => {
      const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
      const asked: string[] = [];
      const resolve = async (host: string) => {
        asked.push(host);
        return [answers[asked.length - 1] ?? '127.0.0.9'];
      };
      const { answer, connections } = await reached((port) => `https://localhost:${port}/`, { resolve });
      assert.deepEqual([answer.statusCode, connections, asked], [200, 1, ['localhost']]);
    });

    it('are the only ones connected to: the system’s own resolution of the name does not count', async () => {
      const isAllowed = createAddressCheck(['127.0.0.0/8']);
      const resolve = async () => ['127.0.0.2'];
      const { answer, connections } = await reached((port) => `https://localhost:${port}/`, { resolve, isAllowed });
      assert.deepEqual([answer, connections], [failure('connection'), 0]);
    });

    it('are tried one after the other until one connects', async () => {
      const isAllowed = createAddressCheck(['127.0.0.0/8', '::1/128']);
      const resolve = async () => ['::1', '127.0.0.1'];
      const { answer } = await reached((port) => `https://localhost:${port}/`, { resolve, isAllowed });
      assert.equal(answer.statusCode, 200);
    });

    it('have seconds each to connect: a distant receiver is reached although its IPv6 address has no route', async () => {
      const server = await startTlsServer(ok);
      const slow = await startSlowAccept(server.port);
      const isAllowed = createAddressCheck(['127.0.0.1/32', '::1/128']);
      const post = await postWith({ isAllowed, resolve: async () => ['127.0.0.1', '::1'] });
      await slow.block();
      assert.equal((await post(message(`https://localhost:${slow.port}/`))).statusCode, 200);
    });

    it('are tried of both families, however many there are of one', async () => {
      const isAllowed = createAddressCheck(['127.0.0.0/8', '::1/128']);
      const others = Array.from({ length: 9 }, (_, n) => `127.0.1.${n + 1}`);
      const resolve = async () => [...others, '::1', '127.0.0.1'];
      const server = createServer(await testCertificate(), ok).listen(0, '::1');
      await once(server, 'listening');
      onStop(() => void server.close());
      const post = await postWith({ isAllowed, resolve });
      const { port } = server.address() as AddressInfo;
      assert.equal((await post(message(`https://localhost:${port}/`))).statusCode, 200);
    });

    it('are those of the hosts file when no name server knows the name', async () => {
      const nobody = await startNameServer({ A: [], AAAA: [] });
      const hosts = join(temporaryDirectory(), 'hosts');
      writeFileSync(
        hosts,
        '# ours\n10.1.0.7\tbakery Hooks.Internal # old: 10.1.0.9 hooks.internal\nfd00::7 hooks.internal\n',
      );
      const ask = (name: string) => resolveNames([nobody], hosts)(name, AbortSignal.timeout(patience_ms));
      assert.deepEqual(await ask('hooks.internal'), ['10.1.0.7', 'fd00::7']);
      assert.deepEqual(await ask('other.internal'), []);
    });

    it('are those of the name servers, of both families', async () => {
      const nameServer = await startNameServer({ A: ['127.0.0.1'], AAAA: [`${'0'.repeat(31)}1`] });
      const asked = await resolveNames([nameServer])('bakery.example', AbortSignal.timeout(patience_ms));
      assert.deepEqual(asked, ['127.0.0.1', '::1']);
      const onlyOne = await startNameServer({ A: ['127.0.0.1'], AAAA: [] });
      assert.deepEqual(await resolveNames([onlyOne])('bakery.example', AbortSignal.timeout(patience_ms)), [
        '127.0.0.1',
      ]);
    });

    it('are a dns failure if a name has none', async () => {
      const none = async () => [];
      const broken = async () => Promise.reject(new Error('SERVFAIL'));
      for (const resolve of [none, broken]) {
        const { answer } = await reached((port) => `https://localhost:${port}/`, { resolve });
        assert.deepEqual(answer, failure('dns'));
      }
    });
  });

  describe('trust', () => {
    it('needs a known authority', async () => {
      const server = await startTlsServer(ok);
      const post = await postWith({ extraCa: [] });
      assert.deepEqual(await post(message(`https://127.0.0.1:${server.port}/`)), failure('tls'));
      assert.equal(server.requests.length, 0);
    });

    it('needs the name in the certificate', async () => {
      const server = await startTlsServer(ok);
      const post = await postWith();
      assert.deepEqual(await post(message(`https://other.example:${server.port}/`)), failure('tls'));
      assert.equal(server.requests.length, 0);
    });
  });

  describe('answer', () => {
    const answerOf = async (reply: (socket: TLSSocket) => void, more: Partial<WebhookPostDeps> = {}) => {
      const server = await startTlsServer(reply);
      const post = await postWith(more);
      const answer = await post(message(`https://127.0.0.1:${server.port}/`));
      await server.closed;
      return { answer, requests: server.requests.length };
    };

    /**
     * The answer at a deadline that passes after the receiver has sent three characters behind this text, or has the request and sends
     * nothing. On a busy machine the connection alone can take longer: then the next deadline is twice as long.
     */
    const answerAtDeadline = async (text: string | null) => {
      const steps = text === null ? 1 : 3;
      for (let timeout_ms = 200; ; timeout_ms *= 2) {
        let done = 0;
        const server = await startTlsServer((socket) => {
          if (text === null) {
            done = steps;
            return;
          }
          socket.write(text);
          const drip = setInterval(() => {
            done += 1;
            socket.write('.');
          }, 50);
          socket.on('close', () => clearInterval(drip));
        });
        const answer = await (await postWith({ timeout_ms }))(message(`https://127.0.0.1:${server.port}/`));
        server.stop();
        if (done >= steps) return answer;
      }
    };

    for (const status of [204, 400, 404, 500, 503]) {
      it(`${status} is reported unchanged`, async () => {
        const { answer } = await answerOf(answering(`HTTP/1.1 ${status} X\r\nConnection: close\r\n\r\n`));
        assert.deepEqual(answer, { statusCode: status, error: null, responsePreview: '', sent: true });
      });
    }

    for (const status of [301, 302, 303, 307, 308]) {
      it(`${status} is not followed`, async () => {
        const target = await startTlsServer(ok);
        const { answer } = await answerOf(
          answering(`HTTP/1.1 ${status} X\r\nLocation: https://127.0.0.1:${target.port}/\r\nContent-Length: 0\r\n\r\n`),
        );
        assert.equal(answer.statusCode, status);
        assert.equal(target.connections, 0);
      });
    }

    it('keeps its first 200 characters, whole ones', async () => {
      const body = Buffer.from(`${'🥐'.repeat(150)}${'ä'.repeat(100)}`);
      const { answer } = await answerOf((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
        // Truncated inside a character.
        socket.write(body.subarray(0, 3));
        socket.write(body.subarray(3, 602));
        socket.end(body.subarray(602));
      });
      assert.equal(answer.responsePreview, '🥐'.repeat(150) + 'ä'.repeat(50));
    });

    it('without an end is truncated', async () => {
      const chunk = 'x'.repeat(256 * 1024);
      const { answer, requests } = await answerOf((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
        const pour = () => {
          while (!socket.destroyed && socket.write(chunk));
        };
        socket.on('drain', pour);
        pour();
      });
      assert.deepEqual(answer, { statusCode: 200, error: null, responsePreview: 'x'.repeat(200), sent: true });
      assert.equal(requests, 1);
    });

    it('in small pieces is truncated at the deadline, and counts by its status', async () => {
      const answer = await answerAtDeadline('HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n.');
      assert.equal(answer.statusCode, 200);
      assert.match(answer.responsePreview ?? '', /^\.{1,199}$/);
    });

    it('broken off counts by its status', async () => {
      const { answer } = await answerOf(answering('HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nhalf'));
      assert.deepEqual(answer, { statusCode: 202, error: null, responsePreview: 'half', sent: true });
    });

    it('with a head in small pieces is a timeout', async () => {
      const answer = await answerAtDeadline('HTTP/1.1 200 OK\r\nX-Slow: ');
      assert.deepEqual(answer, failure('timeout', true));
    });

    it('never received is a timeout', async () => {
      const answer = await answerAtDeadline(null);
      assert.deepEqual(answer, failure('timeout', true));
    });

    it('cannot be delayed longer by a name server that never answers', async () => {
      const post = await postWith({ resolve: () => new Promise(() => {}), timeout_ms: 50 });
      assert.deepEqual(await post(message('https://localhost/')), failure('timeout'));
    });

    it('is a protocol failure if it is not HTTP, has too long a head, or switches protocols', async () => {
      const texts = [
        'SSH-2.0-OpenSSH_9.9\r\n\r\n',
        `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      ];
      for (const text of texts) assert.deepEqual((await answerOf(answering(text))).answer, failure('protocol', true));
    });

    it('may be preceded by a hint', async () => {
      const hinted = 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n';
      assert.equal((await answerOf(answering(hinted))).answer.statusCode, 201);
    });

    it('contains no character that Postgres cannot store, and no broken one', async () => {
      const { answer } = await answerOf((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na\u0000b');
        socket.end(Buffer.from([0xff, 0x63]));
      });
      assert.equal(answer.responsePreview, 'a\uFFFDb\uFFFDc');
    });

    it('from nobody is a connection failure', async () => {
      const server = await startTlsServer(ok);
      server.stop();
      const post = await postWith();
      assert.deepEqual(await post(message(`https://127.0.0.1:${server.port}/`)), failure('connection'));
    });
  });
});
