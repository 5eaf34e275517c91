import assert from 'node:assert/strict';
import dns, { type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createPost } from '../../../src/chains/node/http.ts';
import { NoAnswer, type RpcParams } from '../../../src/chains/node/jsonRpc.ts';
import { createLines } from '../../../src/chains/node/limiter.ts';
import { createTransport } from '../../../src/chains/node/nodes.ts';
import { onStop } from '../../support/hooks.ts';
import { patience_ms } from '../../support/patience.ts';
import { startSlowAccept } from '../../support/slowAccept.ts';

describe('calling a node by JSON-RPC', () => {
  it('keeps its connection for the calls that follow', async () => {
    const ports = new Set<number | undefined>();
    const { call } = await node((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{"result":"0x1"}');
    });
    for (const _ of [1, 2, 3]) assert.deepEqual(await call('eth_chainId'), { value: '0x1' });
    assert.equal(ports.size, 1);
  });

  it('gives each address of a node seconds to connect', async () => {
    const server = createServer((_, response) => response.end('"0x1"')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onStop(() => void server.close());
    const slow = await startSlowAccept((server.address() as AddressInfo).port);
    const { lookup } = dns;
    dns.lookup = ((_host: string, _options: object, done: (error: null, found: LookupAddress[]) => void) =>
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ])) as unknown as typeof lookup;
    try {
      await slow.block();
      const post = createPost(`http://localhost:${slow.port}/`, 1_000);
      assert.equal((await post('{}', AbortSignal.timeout(patience_ms))).text, '"0x1"');
    } finally {
      dns.lookup = lookup;
    }
  });

  it('sends no params to methods without any: some nodes refuse empty ones', async () => {
    const bodies: string[] = [];
    const { call } = await node((_, response, body) => {
      bodies.push(body);
      response.end('{"result":"0x1"}');
    });
    for (const params of [[], {}, ['latest'], { limit: 1 }]) await call('getFeeStats', { params });
    assert.deepEqual(
      bodies.map((body) => JSON.parse(body).params),
      [undefined, undefined, ['latest'], { limit: 1 }],
    );
  });

  it('repeats a call after a temporary fault: an outage, a closed connection, a login page, an invalid answer', async () => {
    const answers: RequestListener[] = [
      (_, response) => response.writeHead(503).end('{"error":"Service Unavailable"}'),
      (request) => request.socket.destroy(),
      (_, response) => response.end('{"result":"0x1"}'),
      (_, response) => response.end('<!DOCTYPE html><title>Just a moment...</title>'),
      (_, response) => response.end('{}'),
      (_, response) => response.end('{"result":"0x2"}'),
      (_, response) => response.end('{"error":{"code":-32603,"message":"internal error"}}'),
      (_, response) => response.end(),
      (_, response) => response.end('{"result":null}'),
    ];
    const { call, asked } = await node((request, response) => answers.shift()?.(request, response));
    assert.deepEqual(await call('eth_blockNumber'), { value: '0x1' });
    assert.deepEqual(await call('eth_blockNumber'), { value: '0x2' });
    assert.deepEqual(await call('eth_getTransactionReceipt'), { value: null });
    assert.equal(asked(), 9);
  });

  it('repeats a call that another back end of the same address may answer', async () => {
    const lagging = '{"error":{"code":-32000,"message":"header not found"}}';
    const answers = [lagging, lagging, '{"result":7}', lagging, lagging, lagging, lagging];
    const { call, asked } = await node((_, response) => response.end(answers.shift()));
    assert.deepEqual(await call('eth_call'), { value: 7 });
    const said = await call('eth_call');
    assert.ok('refusal' in said && said.refusal.code === -32000);
    assert.equal(asked(), 7);
  });

  describe('a refusal for too many calls', () => {
    const limits: readonly (readonly [string, RequestListener])[] = [
      ['as a status', (_, response) => response.writeHead(429).end()],
      [
        'with seconds to wait',
        (_, response) => response.writeHead(429, { 'retry-after': '0.2' }).end('{"message":"slow down"}'),
      ],
      [
        'with a date',
        (_, response) => {
          const [date, after] = [0, 1_000].map((more) =>
            new Date(Math.ceil(Date.now() / 1_000) * 1_000 + more).toUTCString(),
          );
          response.writeHead(429, { date, 'retry-after': after }).end();
        },
      ],
      [
        'in JSON-RPC under a status',
        (_, response) => response.writeHead(429).end('{"error":{"code":-32005,"message":"rate limit"}}'),
      ],
      [
        'in JSON-RPC',
        (_, response) => response.end('{"error":{"code":429,"message":"compute units per second capacity"}}'),
      ],
      ['in words', (_, response) => response.end('{"error":"rate limited"}')],
      ['without a code', (_, response) => response.end('{"error":{"message":"Too many requests"}}')],
    ];
    for (const [how, listener] of limits) {
      it(`${how} is waited out, and known to all callers of the node`, async () => {
        const answers = [listener];
        const { call, asked, line } = await node((request, response) => {
          const next = answers.shift() ?? ((_, good) => good.end('{"result":"0x1"}'));
          next(request, response);
        });
        assert.deepEqual(await call('eth_blockNumber'), { value: '0x1' });
        assert.equal(asked(), 2);
        assert.notEqual(line.limiter.rate(), null);
      });
    }

    it('is reported as a limit when it lasts, and at once when the node requests a longer pause than there is time', async () => {
      const { call, asked } = await node((_, response) => response.writeHead(429, { 'retry-after': '60' }).end());
      for (const _ of [1, 2]) {
        const error = await call('eth_blockNumber').catch((failure: unknown) => failure);
        assert.ok(error instanceof NoAnswer && error.kind === 'limited');
      }
      assert.equal(asked(), 1);
    });

    it('is permanent, as a missing method, if other calls are accepted meanwhile', async () => {
      const { call } = await node((_, response, body) =>
        response.end(
          body.includes('eth_getLogs') ? '{"error":{"code":-32005,"message":"limit exceeded"}}' : '{"result":"0x1"}',
        ),
      );
      const asked = call('eth_getLogs');
      await call('eth_blockNumber');
      assert.deepEqual(await asked, { refusal: { code: -32005, message: 'limit exceeded', words: 'limit exceeded' } });
    });
  });

  it('accepts a refusal as an answer, also under a status of failure', async () => {
    const error = { code: -32602, message: 'bad params' };
    const { call, asked } = await node((_, response) => response.writeHead(400).end(JSON.stringify({ error })));
    assert.deepEqual(await call('eth_call'), { refusal: { ...error, words: error.message } });
    assert.equal(asked(), 1);
  });

  it('gives up after three tries, and reveals neither URL nor body', async () => {
    const { call, asked } = await node((_, response) => response.writeHead(502).end('secret-of-the-node'));
    const error = await call('eth_call', { params: ['secret-of-ours'] }).catch((failure: unknown) => failure);
    assert.ok(error instanceof NoAnswer);
    assert.equal(error.message, 'HTTP 502');
    assert.equal(asked(), 3);
  });

  it('reads no more of an answer than it has room for', async () => {
    const { call, asked } = await node((_, response) => {
      response.on('error', () => {});
      response.end(`{"result":"${'0'.repeat(11 * 1024 * 1024)}"}`);
    });
    await assert.rejects(call('eth_getLogs'), /larger than/);
    assert.equal(asked(), 1);
  });

  it('decompresses answers', async () => {
    const { call } = await node((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"result":[1]}')),
    );
    assert.deepEqual(await call('eth_getLogs'), { value: [1] });
  });

  it('ends by its time limit when a node begins an answer and stops', async () => {
    const { call } = await node((_, response) => void response.writeHead(200).write('{"res'), 50);
    await assert.rejects(call('eth_call'), NoAnswer);
  });

  it('ends at once when its reading is aborted', async () => {
    const reading = new AbortController();
    const { call } = await node(() => reading.abort(new Error('not wanted any more')));
    await assert.rejects(call('eth_call', { signal: reading.signal }), /not wanted any more/);
  });
});

type Listener = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function node(listener: Listener, timeout_ms = 10_000) {
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    listener(request, response, Buffer.concat(chunks).toString());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://user:key@127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  const line = createLines({ random: () => 0 }).of(url, { chainId: 1, node: 1 });
  const transport = createTransport({ url, timeout_ms, line, random: () => 0 });
  const call = (method: string, { params = [], signal }: { params?: RpcParams; signal?: AbortSignal } = {}) =>
    transport.call({ method, params }, { priority: 'head', signal });
  return { call, asked: () => requests, line };
}
