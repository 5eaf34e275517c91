/** Sample pages and their files on loopback, with the headers that the service sends. */
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VNode } from 'preact';
import { documentOf } from '../../web/parts/html.ts';
import { colourSheet } from '../../web/pay/colour.ts';

/** As src/http sends it with pages. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** No asset changes while a spec runs, so browsers load each asset once per visitor. */
const unchanging = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

const folders: Readonly<Record<string, string>> = {
  'look.css': '',
  'pay.css': 'pay/',
  'front.css': 'front/',
  'guide.css': 'guides/',
  'reference.css': 'reference/',
};

export interface PageServer extends AsyncDisposable {
  readonly url: (page: string) => string;
  /** `GET overview`, `POST /dashboard/…`: what was asked for, files and news aside. */
  readonly asked: string[];
  /** Once a page waits for news. */
  listened(): Promise<void>;
  /** News for all who look at a page. */
  tell(): void;
  /** Breaks the lines of all who listen. */
  cut(): void;
}

/** How the lines of news are answered; changed while the server runs. */
export interface Lines {
  /** What whoever listens is told first. */
  greeting?: string;
  /** A status in place of a line. */
  refused?: number;
  /** Lines that were asked for. */
  asked: number;
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
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const asset = /^\/dashboard\/assets\/(\w+\.(css|js|svg))$/.exec(path);
    const page = pages[path.slice(1)];
    response.setHeader('Content-Security-Policy', pagePolicy);
    if (asset?.[1] && asset[2]) {
      const file = new URL(`../../web/${folders[asset[1]] ?? 'client/'}${asset[1]}`, import.meta.url);
      response.setHeader('Cache-Control', unchanging);
      response.setHeader('Content-Type', types[asset[2]] ?? '');
      response.end(await readFile(file));
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
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
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
