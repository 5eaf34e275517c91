/** The node's HTTP side: JSON-RPC on `/`, the faucet on `/friendbot`. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isFromHere } from '../fromHere.ts';
import { requestBody } from '../requestBody.ts';
import { RpcError } from '../rpcError.ts';
import { fundNewAccount } from './friendbot.ts';
import { answer } from './rpc/answer.ts';
import { type Node, rpcCodes } from './rpc/method.ts';
import { type Parsed, parseRequests } from './rpc/requests.ts';

export interface NodeServer {
  readonly url: string;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
const bodyBytesMax = 512 * 1024;
/** Longer than a busy process may be silent: a connection must not close while a request arrives. */
const keepAlive_ms = 60_000;

/** @param port 0 chooses a free one */
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
  if (pathname !== '/') return replyText(response, 404, '404 page not found');
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const unreadable = contentTypeProblem(request.headers['content-type']);
  if (unreadable !== undefined) return replyText(response, 415, unreadable);
  if (body === undefined) return replyText(response, 500, 'http: request body too large');
  answerRpc(node, body, response);
}

function contentTypeProblem(contentType = ''): string | undefined {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  if (type.trim() !== 'application/json') return 'content-type must be application/json';
  const [, charset = 'utf-8'] = parameters.map((each) => /^charset="?([^"]*)"?$/.exec(each.trim())).find(Boolean) ?? [];
  return ['utf-8', 'utf8'].includes(charset) ? undefined : 'invalid content-type charset';
}

/** Requests beyond this number of a batch are not answered. */
const batchMax = 1_000;

/**
 * Answers one request, or a batch: first its invalid elements, then the others in order. As in stellar-rpc, a batch
 * with one answer gets only that answer, and a body of notifications gets none.
 */
function answerRpc(node: Node, body: string, response: ServerResponse): void {
  const requests = parseRequests(body)?.slice(0, batchMax);
  if (!requests) {
    replyText(response, 500, '[-32700] invalid request value');
    return;
  }
  const inOrder = [...requests.filter((each) => 'error' in each), ...requests.filter((each) => !('error' in each))];
  const answers = inOrder.map((each) => answerCall(node, each)).filter((each) => each !== 'none');
  const [first, ...others] = answers;
  if (first === undefined) response.writeHead(204).end();
  else if (answers.includes('lost')) response.destroy();
  else if (answers.includes('unavailable')) reply(response, 503, { error: 'unavailable' });
  else reply(response, 200, others.length > 0 ? answers : Object(first));
}

function answerCall(node: Node, request: Parsed): object | 'lost' | 'unavailable' | 'none' {
  const { id } = request;
  if ('error' in request) return refusal(id, request.error);
  try {
    const answered = answer(node, request.method, request.params);
    if (id === undefined) return 'none';
    return typeof answered === 'string' ? answered : { jsonrpc: '2.0', id, result: answered.result };
  } catch (error) {
    if (id === undefined) return 'none';
    return refusal(id, error instanceof RpcError ? error : new RpcError(rpcCodes.internal, (error as Error).message));
  }
}

const refusal = (id: string | number | undefined, { code, message, data }: RpcError): object => ({
  jsonrpc: '2.0',
  id: id ?? null,
  error: { code, message, ...(data !== undefined && { data }) },
});

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function replyText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
