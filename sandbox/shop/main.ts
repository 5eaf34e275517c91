/**
 * The demo shop, in its own process: a merchant's server with its pages and, beside them, its webhook URL.
 * `node sandbox/shop/main.ts --port 0 --webhook-port 0 --folder ./data/shop --certificates ./data/webhook`
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepCertificate } from '../certificate.ts';
import { readyProgram } from '../readyProgram.ts';
import { bodyOf } from '../requestBody.ts';
import { openBook } from './book.ts';
import { createKeeper } from './keeper.ts';
import { createShopServer } from './server.ts';
import { readSettings } from './settings.ts';
import { receiveWebhook } from './webhook.ts';

const host = '127.0.0.1';
const webhookMax_bytes = 256 * 1024;

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'webhook-port': { type: 'string', default: '0' },
    folder: { type: 'string', default: './shop' },
    certificates: { type: 'string', default: '.' },
    detached: { type: 'boolean', default: false },
  },
});

mkdirSync(options.folder, { recursive: true });
const settings = () => readSettings(options.folder);
const book = openBook(join(options.folder, 'orders.jsonl'));
const keeper = createKeeper(book, settings);
const closing = new AbortController();

const show = createShopServer({ book, keeper, settings });
const pages = createServer((request, response) => {
  show(request, response).catch(() => response.destroy());
});

const { certFile, keyFile } = await keepCertificate(options.certificates);
const webhooks = createTlsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
  const told = async () => {
    const body = request.method === 'POST' ? await bodyOf(request, webhookMax_bytes) : undefined;
    const secret = () => settings()?.webhookSecret;
    const deps = { keeper, secret, learning: () => book.now().learning };
    const status = body ? receiveWebhook(deps, request.headers, body, Date.now()) : 400;
    response.writeHead(status, { Connection: 'close' }).end();
  };
  told().catch(() => response.destroy());
});

for (const server of [pages, webhooks])
  server.on('error', (error) => {
    console.error(`shop: ${error.message}`);
    process.exit(1);
  });
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

webhooks.listen(Number(options['webhook-port']), host, () => {
  pages.listen(Number(options.port), host, () => {
    const url = `http://${host}:${portOf(pages)}`;
    const running = keeper.run(closing.signal);
    readyProgram({
      facts: { url, webhookUrl: `https://${host}:${portOf(webhooks)}/webhooks` },
      text: `shop: ${url}`,
      detached: options.detached,
      async stop() {
        closing.abort();
        for (const server of [pages, webhooks]) {
          server.close();
          server.closeAllConnections();
        }
        await running;
      },
    });
  });
});
