/** Sample pages and their files on loopback, with the headers that the service sends. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VNode } from 'preact';
import { assets, readAssetName } from '../../web/parts/assets.ts';
import { colourSheet } from '../../web/parts/colour.ts';
import { documentOf } from '../../web/parts/html.ts';
import { exampleOrderPage } from '../../web/pay/exampleOrder.ts';
import { now } from './samples/payments.ts';

/** The policy that src/http sends with pages. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; frame-src 'self'";

/** No asset changes while a spec runs, so browsers load each asset once per visitor. */
const unchanging = 'public, max-age=31536000, immutable';

export interface PageServer extends AsyncDisposable {
  readonly url: (page: string) => string;
  /** Requests such as `GET overview` and `POST /dashboard/…`, without files and news. */
  readonly asked: string[];
  /** Resolves when a page listens for news. */
  listened(): Promise<void>;
  /** Sends news to all listening pages. */
  tell(): void;
  /** Breaks the connections of all listeners. */
  cut(): void;
}

/** Answers to listeners; changed while the server runs. */
export interface Lines {
  /** First message to each listener. */
  greeting?: string;
  /** A status instead of a stream. */
  refused?: number;
  /** Number of requested streams. */
  asked: number;
  /** Statuses of the next answers in place of a page; 0 for a broken connection. */
  failing?: number[];
}

/** @param pages by name; read at each request, so that a spec can change them */
export async function servePages(
  pages: Readonly<Record<string, VNode>>,
  lines: Lines = { asked: 0 },
): Promise<PageServer> {
  const asked: string[] = [];
  const listening = new Set<ServerResponse>();
  const heard = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const asset = assets.get(readAssetName(path.replace('/dashboard/assets/', '')).file);
    const page = pages[path.slice(1)];
    response.setHeader('Content-Security-Policy', pagePolicy);
    if (asset) {
      response.setHeader('Cache-Control', unchanging);
      response.setHeader('Content-Type', asset.type);
      response.end(asset.content);
    } else if (path.endsWith('/branding/preview')) {
      const shop = {
        name: searchParams.get('name'),
        colour: searchParams.get('colour'),
        logoUrl: null,
        supportContact: null,
        returnUrl: null,
      };
      const framed = exampleOrderPage({ mode: 'sandbox', shop, now });
      response.setHeader(
        'Content-Security-Policy',
        pagePolicy.replace("frame-ancestors 'none'", "frame-ancestors 'self'"),
      );
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(documentOf(framed));
    } else if (path.startsWith('/colours/')) {
      response.setHeader('Cache-Control', unchanging);
      response.setHeader('Content-Type', 'text/css');
      response.end(colourSheet(`#${path.slice(-10, -4)}`));
    } else if (path.endsWith('/live')) {
      lines.asked += 1;
      if (lines.refused !== undefined) return void response.writeHead(lines.refused).end();
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
      response.write('retry: 100\n\n');
      if (lines.greeting !== undefined) response.write(`data: ${lines.greeting}\n\n`);
      listening.add(response.once('close', () => listening.delete(response)));
      heard.resolve();
    } else if (page) {
      asked.push(`${request.method} ${path.slice(1)}`);
      const failed = lines.failing?.shift();
      if (failed === 0) return void request.socket.destroy();
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      if (failed !== undefined) return void response.writeHead(failed).end('<p>Try again later.</p>');
      response.end(documentOf(page));
    } else {
      asked.push(`${request.method} ${path}`);
      response.writeHead(request.method === 'POST' ? 204 : 404).end();
    }
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return {
    url: (page) => `http://127.0.0.1:${port}/${page}`,
    asked,
    listened: () => heard.promise,
    tell() {
      for (const response of listening) response.write('data: news\n\n');
    },
    cut() {
      for (const response of listening) response.destroy();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
