/** The node's two ports: JSON-RPC over HTTP, and WebSockets one port higher, where clients expect them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { isFromHere } from '../fromHere.ts';
import { requestBody } from '../requestBody.ts';
import { carryOut, errorView, type Reply } from './rpc/call.ts';
import { parseError, requestIn, type Sent } from './rpc/envelope.ts';
import { jsonText } from './rpc/json.ts';
import type { Node } from './rpc/method.ts';
import { createSubscriptions, type Subscriptions } from './rpc/subscriptions.ts';

export interface NodeServer {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
/** The limit of the network's nodes, which also applies to a batch. */
const bodyBytesMax = 50 * 1024;
const portAttempts = 50;
const farewell_ms = 1_000;
/** Long enough that a busy process loses no request to a closed connection. */
const keepAlive_ms = 60_000;

/** @param port 0 chooses a free one whose next port is free too */
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
      // A client that gets the reason does not reconnect.
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
  if (request.method === 'GET' && request.url === '/health') return void response.writeHead(200).end('ok');
  if (request.method === 'OPTIONS') return void response.writeHead(200, { ...json, Allow: 'OPTIONS, POST' }).end();
  if (request.method !== 'POST')
    return refuse(response, 405, 'Used HTTP Method is not allowed. POST or OPTIONS is required');
  if (!isJson(request.headers['content-type']))
    return refuse(response, 415, 'Supplied content type is not allowed. Content-Type: application/json is required');
  if (body === undefined) return refuse(response, 413, 'request body size exceeds allowed maximum');
  const asked = requestIn(body);
  if (!asked) return send(response, 200, parseError);
  const replies: Reply[] = [];
  for (const sent of asked.all) replies.push(await carryOut(node, sent));
  if (replies.includes('lost')) response.destroy();
  else if (replies.includes('unavailable')) send(response, 503, { error: 'Service Unavailable' });
  else send(response, 200, together(asked.isBatch, replies));
}

/** Undefined if no reply is due. */
function together(isBatch: boolean, replies: readonly unknown[]): unknown {
  const due = replies.filter((reply) => reply !== undefined);
  if (due.length === 0) return undefined;
  return isBatch ? due : due[0];
}

const isJson = (type = ''): boolean => /^application\/json\s*(;.*)?$/i.test(type);

function converse(node: Node, socket: WebSocket, connected: Set<Subscriptions>): void {
  const subscriptions = createSubscriptions(node, (notification) => socket.send(jsonText(notification)));
  connected.add(subscriptions);
  socket.on('close', () => connected.delete(subscriptions));
  socket.on('error', () => socket.terminate());
  socket.on('message', (data) => {
    const reply = replyTo(subscriptions, String(data));
    if (reply !== undefined) socket.send(jsonText(reply));
    subscriptions.changed();
  });
}

/** Undefined for notifications, which some clients send to keep a connection alive. */
function replyTo(subscriptions: Subscriptions, text: string): unknown {
  const asked = requestIn(text);
  if (!asked) return parseError;
  return together(
    asked.isBatch,
    asked.all.map((sent) => replyToOne(subscriptions, sent)),
  );
}

function replyToOne(subscriptions: Subscriptions, sent: Sent): object | undefined {
  if ('reply' in sent) return sent.reply;
  const { method, params } = 'call' in sent ? sent.call : sent.notification;
  const id = 'call' in sent ? sent.call.id : undefined;
  try {
    const result = subscriptions.call(method, params);
    return id === undefined ? undefined : { jsonrpc: '2.0', result, id };
  } catch (error) {
    return id === undefined ? undefined : { jsonrpc: '2.0', error: errorView(error), id };
  }
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };

const refuse = (response: ServerResponse, status: number, message: string): void =>
  void response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${message}\n`);

/** @param body undefined: nothing is sent */
function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, json).end(body === undefined ? '' : `${jsonText(body)}\n`);
}
