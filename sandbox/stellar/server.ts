/** The node's HTTP side: JSON-RPC on `/`, the faucet on `/friendbot`. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFromHere } from '../fromHere.ts';
import { requestBody } from '../requestBody.ts';
import { fundNewAccount } from './friendbot.ts';
import { answer } from './rpc/answer.ts';
import { type Node, noParams, type Params, RpcError, rpcCodes } from './rpc/method.ts';

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

interface Call {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: Params | null;
}

/** What goes beyond is left unanswered. */
const batchMax = 100;

/** One call, or a list of them that is answered in its order. */
function answerRpc(node: Node, body: string, response: ServerResponse): void {
  const asked = parsed(body);
  const calls = asked === undefined ? [] : [asked].flat();
  const answers = calls.slice(0, batchMax).map((call) => answerCall(node, call));
  const [first] = answers;
  if (first === undefined) reply(response, 200, refusal(null, rpcCodes.invalidRequest, 'no JSON'));
  else if (answers.includes('lost')) response.destroy();
  else if (answers.includes('unavailable')) reply(response, 503, { error: 'unavailable' });
  else reply(response, 200, Array.isArray(asked) ? answers : Object(first));
}

function parsed(body: string): Call | readonly Call[] | undefined {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function answerCall(node: Node, { id = null, method, params }: Call): object | 'lost' | 'unavailable' {
  try {
    const answered = answer(node, String(method), params ?? noParams);
    return typeof answered === 'string' ? answered : { jsonrpc: '2.0', id, result: answered.result };
  } catch (error) {
    return refusal(id, error instanceof RpcError ? error.code : rpcCodes.internal, (error as Error).message);
  }
}

const refusal = (id: unknown, code: number, message: string): object => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
