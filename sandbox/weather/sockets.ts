/** WebSockets pass through as they are: byte for byte to the chain's own. */
import type { IncomingMessage, Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isFromHere } from '../fromHere.ts';

export interface Sockets {
  /** Ends every connection, as providers occasionally do. */
  cut(): void;
}

/** @param wsUrl where the chain's WebSockets are */
export function passSockets(server: Server, wsUrl: string): Sockets {
  const { hostname, port } = new URL(wsUrl);
  const open = new Set<Socket>();
  server.on('upgrade', (request: IncomingMessage, caller: Duplex, early: Buffer) => {
    if (!isFromHere(request)) return void caller.destroy();
    const chain = connect(Number(port), hostname, () => {
      chain.write(`${headOf(request, `${hostname}:${port}`)}\r\n\r\n`);
      chain.write(early);
      caller.pipe(chain).pipe(caller);
    });
    open.add(chain);
    chain.on('error', () => caller.destroy());
    chain.on('close', () => {
      open.delete(chain);
      caller.destroy();
    });
    caller.on('error', () => chain.destroy());
    caller.on('close', () => chain.destroy());
  });
  return {
    cut() {
      for (const socket of open) socket.destroy();
    },
  };
}

function headOf({ method, rawHeaders }: IncomingMessage, host: string): string {
  const lines = [`${method} / HTTP/1.1`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    lines.push(`${name}: ${name.toLowerCase() === 'host' ? host : rawHeaders[at + 1]}`);
  }
  return lines.join('\r\n');
}
