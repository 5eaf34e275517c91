/** An HTTPS address in front of a local HTTP server, for clients that refuse anything else. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { keepCertificate } from '../../sandbox/certificate.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface TlsFront {
  readonly url: string;
  /** Certificate that clients must trust, for NODE_EXTRA_CA_CERTS. */
  readonly caFile: string;
  stop(): Promise<void>;
}

export async function startTlsFront(target: string): Promise<TlsFront> {
  const { certFile, keyFile } = await keepCertificate(temporaryDirectory());
  const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    const passed = request(new URL(url, target), { method: method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    caFile: certFile,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
