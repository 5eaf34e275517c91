/** Nodes that push scripted messages over WebSockets, and time that passes at once. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { onStop } from '../support/hooks.ts';

/** Time passes at once; waits as long as the allowed silence, or longer, never end. */
export function impatient() {
  const pauses_ms: number[] = [];
  return {
    pauses_ms,
    after(wait_ms: number, run: () => void) {
      pauses_ms.push(wait_ms);
      const timer = wait_ms >= 60_000 ? undefined : setImmediate(run);
      return () => clearImmediate(timer);
    },
  };
}

/** A node that answers the first message on each connection. */
export async function listen(answer: (socket: WebSocket, connection: number, asked: string) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  onStop(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    const connection = connections;
    socket.on('error', () => socket.terminate());
    socket.once('message', (data) => answer(socket, connection, String(data)));
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v2/my-api-key`;
}

/** A node that sends these messages on each connection, and closes it. */
export const serve = (says: (connection: number) => readonly unknown[]): Promise<string> =>
  listen((socket, connection) => {
    for (const each of says(connection)) socket.send(typeof each === 'string' ? each : JSON.stringify(each));
    socket.close();
  });
