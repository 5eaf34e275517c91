import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createTransport, NoAnswer } from '../../../src/chains/node/transport.ts';
import { onStop } from '../../support/hooks.ts';

describe('calling a node by JSON-RPC', () => {
  it('keeps its connection for the calls that follow', async () => {
    const ports = new Set<number | undefined>();
    const { call } = await node((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('{"result":"0x1"}');
    });
    for (const _ of [1, 2, 3]) assert.deepEqual(await call('eth_chainId', []), { result: '0x1' });
    assert.equal(ports.size, 1);
  });

  it('asks again what may pass: a limit, an outage, a connection that ends', async () => {
    const answers: RequestListener[] = [
      (_, response) => response.writeHead(503).end('busy'),
      (request) => request.socket.destroy(),
      (_, response) => response.end('{"result":"0x1"}'),
      (_, response) => response.end('{"error":{"code":-32005,"message":"limit exceeded"}}'),
      (_, response) => response.writeHead(429, { 'retry-after': '0' }).end(),
      (_, response) => response.end('{"result":"0x2"}'),
    ];
    const { call, asked } = await node((request, response) => answers.shift()?.(request, response));
    assert.deepEqual(await call('eth_blockNumber', []), { result: '0x1' });
    assert.deepEqual(await call('eth_blockNumber', []), { result: '0x2' });
    assert.equal(asked(), 6);
  });

  it('takes a refusal for an answer, also under a status of failure', async () => {
    const error = { code: -32602, message: 'bad params' };
    const { call, asked } = await node((_, response) => response.writeHead(400).end(JSON.stringify({ error })));
    assert.deepEqual((await call('eth_call', [])).error, error);
    assert.equal(asked(), 1);
  });

  it('gives up after three tries, and tells neither URL nor body', async () => {
    const { call, asked } = await node((_, response) => response.writeHead(502).end('secret-of-the-node'));
    const error = await call('eth_call', ['secret-of-ours']).catch((failure: unknown) => failure);
    assert.ok(error instanceof NoAnswer);
    assert.equal(error.message, 'HTTP 502');
    assert.equal(asked(), 3);
  });

  it('reads no more of an answer than it has room for', async () => {
    const { call, asked } = await node((_, response) => {
      response.on('error', () => {});
      response.end(`{"result":"${'0'.repeat(11 * 1024 * 1024)}"}`);
    });
    await assert.rejects(call('eth_getLogs', []), /larger than/);
    assert.equal(asked(), 1);
  });

  it('unpacks what is packed', async () => {
    const { call } = await node((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"result":[1]}')),
    );
    assert.deepEqual(await call('eth_getLogs', []), { result: [1] });
  });

  it('ends by its time limit when a node begins an answer and stops', async () => {
    const { call } = await node((_, response) => void response.writeHead(200).write('{"res'), 50);
    await assert.rejects(call('eth_call', []), NoAnswer);
  });

  it('ends at once when its reading is aborted', async () => {
    const reading = new AbortController();
    const { call } = await node(() => reading.abort(new Error('not wanted any more')));
    await assert.rejects(call('eth_call', [], reading.signal), /not wanted any more/);
  });
});

async function node(listener: RequestListener, timeout_ms = 10_000) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().once('end', () => listener(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://user:key@127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
  return { call: createTransport(url, timeout_ms), asked: () => requests };
}
