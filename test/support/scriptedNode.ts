/** A node with scripted replies: HTTP on a local port, and a record of its requests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onStop } from './hooks.ts';

export interface AskedCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A body as text is sent as it is, anything else as JSON; 'hangUp' ends the connection. */
export type Script =
  | 'hangUp'
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown };

/** @param asked one call, or several of one request; `number` counts requests from 0 */
export type Reply = (asked: AskedCall | readonly AskedCall[], number: number) => Script | Promise<Script>;

export interface ScriptedNode {
  readonly url: string;
  /** Calls, request by request. */
  readonly requests: readonly (AskedCall | readonly AskedCall[])[];
  /** Number of calls of a method, alone or in a batch. */
  calls(method: string): number;
  reply(next: Reply): void;
}

export const result = (asked: AskedCall, value: unknown = '0x1') => ({ jsonrpc: '2.0', id: asked.id, result: value });
export const refusal = (asked: AskedCall, code: number, message: string) => ({
  jsonrpc: '2.0',
  id: asked.id,
  error: { code, message },
});

/** Answers everything with one value. */
export const always =
  (value: unknown = '0x1'): Reply =>
  (asked) => ({
    body: Array.isArray(asked) ? asked.map((each) => result(each, value)) : result(asked as AskedCall, value),
  });

/** Answers call by call, alone or among several. */
export const each =
  (answer: (asked: AskedCall) => unknown): Reply =>
  (asked) => ({ body: Array.isArray(asked) ? asked.map(answer) : answer(asked as AskedCall) });

/** A request without params reads as one with an empty list. */
function withParams(asked: AskedCall | readonly AskedCall[]): AskedCall | readonly AskedCall[] {
  if (Array.isArray(asked)) return asked.flatMap(withParams);
  const { params = [], ...call } = asked as Partial<AskedCall>;
  return { ...call, params } as AskedCall;
}

export async function scriptedNode(first: Reply = always()): Promise<ScriptedNode> {
  let reply = first;
  const requests: (AskedCall | readonly AskedCall[])[] = [];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = withParams(JSON.parse(Buffer.concat(chunks).toString()));
    requests.push(asked);
    const script = await reply(asked, requests.length - 1);
    if (script === 'hangUp') return void request.socket.destroy();
    const { status = 200, headers = {}, body } = script;
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    calls: (method) => requests.flat().filter((asked) => (asked as AskedCall).method === method).length,
    reply: (next) => {
      reply = next;
    },
  };
}
