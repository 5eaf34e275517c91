/** The node's HTTP side: JSON-RPC on `/`, the faucet on `/friendbot`. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFromHere } from '../fromHere.ts';
import { requestBody } from '../requestBody.ts';
import { fundNewAccount } from './friendbot.ts';
import { answer } from './rpc/answer.ts';
import { type Node, type Params, RpcError, rpcCodes } from './rpc/method.ts';

export interface NodeServer {
  readonly url: string;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
const bodyBytesMax = 512 * 1024;
/** Longer than a busy process stops answering: a connection must not be closed while a request is on its way. */
const keepAlive_ms = 60_000;

/** @param port 0 takes a free one */
export async function serve(node: () => Node, port: number): Promise<NodeServer> {
  const server = createServer({ keepAliveTimeout: keepAlive_ms }, (request, response) => {
    if (!isFromHere(request)) return reply(response, 403, { error: 'forbidden' });
    handle(node(), request, response).catch(() => response.destroy());
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function handle(node: Node, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', `http://${host}`);
  const body = await requestBody(request, bodyBytesMax);
  if (pathname === '/friendbot') {
    const address = searchParams.get('addr') ?? new URLSearchParams(body).get('addr') ?? '';
    const funding = fundNewAccount(node.chain, address);
    return 'hash' in funding
      ? reply(response, 200, { successful: true, hash: funding.hash })
      : reply(response, 400, { status: 400, title: 'Bad Request', detail: funding.refused });
  }
  if (request.method !== 'POST' || pathname !== '/') return reply(response, 404, { error: 'not_found' });
  if (body === undefined) return reply(response, 413, { error: 'body_too_large' });
  answerRpc(node, body, response);
}

function answerRpc(node: Node, body: string, response: ServerResponse): void {
  let id: unknown = null;
  try {
    const call = JSON.parse(body) as { id?: unknown; method?: unknown; params?: Params };
    id = call.id ?? null;
    const answered = answer(node, String(call.method), call.params ?? {});
    if (answered === 'lost') response.destroy();
    else if (answered === 'unavailable') reply(response, 503, { error: 'unavailable' });
    else reply(response, 200, { jsonrpc: '2.0', id, result: answered.result });
  } catch (error) {
    const code = error instanceof RpcError ? error.code : rpcCodes.internal;
    reply(response, 200, { jsonrpc: '2.0', id, error: { code, message: (error as Error).message } });
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
