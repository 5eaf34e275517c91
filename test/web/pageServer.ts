/** Sample pages and their files on loopback, with the headers that the service sends. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VNode } from 'preact';
import { documentOf } from '../../web/parts/html.ts';

/** As src/http sends it with pages. */
export const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const types: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };

export interface PageServer extends AsyncDisposable {
  readonly url: (page: string) => string;
}

export async function servePages(pages: Readonly<Record<string, VNode>>): Promise<PageServer> {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const asset = /^\/dashboard\/assets\/(\w+\.(css|js|svg))$/.exec(path);
    const page = pages[path.slice(1)];
    response.setHeader('Content-Security-Policy', pagePolicy);
    if (asset?.[1] && asset[2]) {
      const file = new URL(`../../web/${asset[2] === 'css' ? '' : 'client/'}${asset[1]}`, import.meta.url);
      response.setHeader('Content-Type', types[asset[2]] ?? '');
      response.end(await readFile(file));
    } else if (page) {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(documentOf(page));
    } else {
      // Server-sent events, too: a line that is never answered with news.
      response.statusCode = path.endsWith('/live') ? 204 : 404;
      response.end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: (page) => `http://127.0.0.1:${port}/${page}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
