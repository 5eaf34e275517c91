/** An HTTPS host with any misbehaviour that a test needs: the handler writes raw bytes. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { keepCertificate } from '../../sandbox/certificate.ts';
import { onStop } from './hooks.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface TlsServer {
  readonly port: number;
  /** The head and body of each request that arrived whole. */
  readonly requests: readonly string[];
  readonly connections: number;
  /** Resolves when the first connection is gone. */
  readonly closed: Promise<unknown>;
  stop(): void;
}

let certificate: Promise<{ cert: string; key: string }> | undefined;

/** One certificate per run, for localhost, 127.0.0.1 and ::1. */
export function testCertificate(): Promise<{ cert: string; key: string }> {
  certificate ??= (async () => {
    const directory = temporaryDirectory();
    const { certFile, keyFile } = await keepCertificate(directory);
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  })();
  return certificate;
}

/** @param reply called once per connection, after a whole request with Content-Length */
export async function startTlsServer(reply: (socket: TLSSocket) => void): Promise<TlsServer> {
  const requests: string[] = [];
  const sockets = new Set<TLSSocket>();
  const closed = Promise.withResolvers<void>();
  let connections = 0;
  const server = createServer(await testCertificate(), (socket) => {
    connections += 1;
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('close', () => closed.resolve());
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (!isWhole(text)) return;
      requests.push(text);
      text = '';
      reply(socket);
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  onStop(stop);
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get connections() {
      return connections;
    },
    closed: closed.promise,
    stop,
  };
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return head >= 0 && text.length >= head + 4 + length;
}
