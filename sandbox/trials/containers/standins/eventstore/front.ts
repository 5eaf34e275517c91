/** Port 2113 of the substitute: forwards gRPC to the node, and answers the compose files' HTTP requests itself. */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

export interface FrontOptions {
  readonly port: number;
  /** Null: in clear. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Current port of the node on loopback. */
  readonly nodePort: () => number;
  readonly answer: RequestListener;
}

/** First bytes of every HTTP/2 connection, and so of gRPC. */
const http2 = Buffer.from('PRI');

/** Curl offers both protocols and gets the older one, which this server answers. */
export function openFront({ port, tls, nodePort, answer }: FrontOptions): void {
  const http = createHttpServer(answer);
  const take = (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      if (!first.subarray(0, http2.length).equals(http2)) {
        http.emit('connection', socket);
        return socket.resume();
      }
      const node = connect(nodePort(), '127.0.0.1');
      node.on('error', () => socket.destroy());
      node.on('close', () => socket.destroy());
      socket.on('close', () => node.destroy());
      return socket.pipe(node).pipe(socket);
    });
  };
  const server =
    tls === null
      ? createServer(take)
      : createTlsServer(
          {
            cert: readFileSync(tls.certFile),
            key: readFileSync(tls.keyFile),
            ALPNCallback: ({ protocols }) => (protocols.includes('http/1.1') ? 'http/1.1' : protocols[0]),
          },
          take,
        );
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.listen(port, '0.0.0.0');
}
