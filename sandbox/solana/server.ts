/** The node's two ports: JSON-RPC over HTTP, and WebSockets one port higher, where clients look for them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { isFromHere } from '../fromHere.ts';
import { requestBody } from '../requestBody.ts';
import { type Call, carryOut, errorView, type Reply } from './rpc/call.ts';
import { jsonText } from './rpc/json.ts';
import { type Node, rpcCodes } from './rpc/method.ts';
import { createSubscriptions, type Subscriptions } from './rpc/subscriptions.ts';

export interface NodeServer {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
const bodyBytesMax = 512 * 1024;
const batchMax = 200;
const portAttempts = 50;
const farewell_ms = 1_000;
/** A process that is busy for long loses no request to a connection that is closed meanwhile. */
const keepAlive_ms = 60_000;

/** @param port 0 takes a free one whose next one is free too */
export async function serve(node: Node, port: number): Promise<NodeServer> {
  const server = createServer({ keepAliveTimeout: keepAlive_ms }, (request, response) => {
    if (!isFromHere(request)) return send(response, 403, { error: 'Forbidden' });
    handle(node, request, response).catch(() => response.destroy());
  });
  const { httpPort, sockets } = await listen(server, port, port === 0 ? portAttempts : 1);
  const connected = new Set<Subscriptions>();
  sockets.on('connection', (socket) => converse(node, socket, connected));
  node.chain.onChange(() => {
    for (const each of connected) each.changed();
  });
  return {
    rpcUrl: `http://${host}:${httpPort}`,
    wsUrl: `ws://${host}:${httpPort + 1}`,
    async stop() {
      const closed = Promise.all([once(server, 'close'), once(sockets, 'close')]);
      server.close();
      server.closeAllConnections();
      sockets.close();
      // A client that is told why does not try to get its connection back.
      for (const client of sockets.clients) client.close(1_000);
      const impatient = setTimeout(() => {
        for (const client of sockets.clients) client.terminate();
      }, farewell_ms);
      await closed;
      clearTimeout(impatient);
    },
  };
}

async function listen(
  server: Server,
  port: number,
  attempts: number,
): Promise<{ httpPort: number; sockets: WebSocketServer }> {
  server.listen(port, host);
  await once(server, 'listening');
  const httpPort = (server.address() as AddressInfo).port;
  const sockets = new WebSocketServer({
    port: httpPort + 1,
    host,
    maxPayload: bodyBytesMax,
    verifyClient: ({ req }: { req: IncomingMessage }) => isFromHere(req),
  });
  try {
    await once(sockets, 'listening');
    return { httpPort, sockets };
  } catch (error) {
    const closed = once(server, 'close');
    server.close();
    await closed;
    if (attempts <= 1) throw error;
    return listen(server, port, attempts - 1);
  }
}

async function handle(node: Node, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await requestBody(request, bodyBytesMax);
  if (request.method !== 'POST') return send(response, 405, { error: 'Used HTTP Method is not allowed.' });
  if (body === undefined) return send(response, 413, { error: 'Payload too large' });
  let calls: unknown;
  try {
    calls = JSON.parse(body);
  } catch {
    return send(response, 200, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
  }
  const all = [calls].flat();
  if (all.length === 0 || all.length > batchMax) {
    const error = { code: rpcCodes.invalidRequest, message: `Invalid request: a batch has 1 to ${batchMax} calls` };
    return send(response, 200, { jsonrpc: '2.0', id: null, error });
  }
  const replies: Reply[] = [];
  for (const call of all) replies.push(await carryOut(node, call));
  if (replies.includes('lost')) response.destroy();
  else if (replies.includes('unavailable')) send(response, 503, { error: 'Service Unavailable' });
  else send(response, 200, Array.isArray(calls) ? replies : replies[0]);
}

function converse(node: Node, socket: WebSocket, connected: Set<Subscriptions>): void {
  const subscriptions = createSubscriptions(node, (notification) => socket.send(jsonText(notification)));
  connected.add(subscriptions);
  socket.on('close', () => connected.delete(subscriptions));
  socket.on('error', () => socket.terminate());
  socket.on('message', (data) => {
    const reply = replyTo(subscriptions, String(data));
    if (reply) socket.send(jsonText(reply));
    subscriptions.changed();
  });
}

/** Nothing for notifications, such as clients send to keep a connection alive. */
function replyTo(subscriptions: Subscriptions, text: string): object | undefined {
  let id: unknown = null;
  try {
    const call = JSON.parse(text) as Call;
    if (call.id === undefined) return undefined;
    id = call.id;
    return { jsonrpc: '2.0', id, result: subscriptions.call(call) };
  } catch (error) {
    const code = error instanceof SyntaxError ? { code: rpcCodes.invalidRequest, message: error.message } : undefined;
    return { jsonrpc: '2.0', id, error: code ?? errorView(error) };
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(jsonText(body));
}
