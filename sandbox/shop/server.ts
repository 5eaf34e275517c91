/** The shop's pages, for this machine alone. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { bodyOf } from '../requestBody.ts';
import type { OpenBook } from './book.ts';
import type { Keeper } from './keeper.ts';
import { orderPage } from './orderPage.ts';
import { shelfPage, shopPage } from './page.ts';
import { createRecipeSale, recipePath } from './recipe.ts';
import type { ShopSettings } from './settings.ts';

const formMax_bytes = 4_000;

export interface ShopServerDeps {
  readonly book: OpenBook;
  readonly keeper: Keeper;
  readonly settings: () => ShopSettings | null;
}

const web = join(import.meta.dirname, '../../web');
const files = new Map<string, readonly [path: string, type: string]>([
  ['look.css', [join(web, 'look.css'), 'text/css']],
  ['shop.css', [join(import.meta.dirname, 'shop.css'), 'text/css']],
  ['shop.js', [join(import.meta.dirname, 'shop.js'), 'text/javascript']],
  ['icon.svg', [join(web, 'client/icon.svg'), 'image/svg+xml']],
  // Imports of shop.js.
  ...['parts.js', 'copy.js', 'localTime.js', 'say.js'].map(
    (name) => [name, [join(web, 'client', name), 'text/javascript']] as const,
  ),
]);

export function createShopServer({ book, keeper, settings }: ShopServerDeps) {
  const sellRecipe = createRecipeSale(settings);
  const notHere = () => shopPage('Not here', null, 'There is no such page in the shop.');

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '/', headers } = request;
    const serviceUrl = settings()?.serviceUrl ?? null;
    const answer = (status: number, body: string, type = 'text/html') =>
      response.writeHead(status, { ...headersFor(serviceUrl), 'Content-Type': `${type}; charset=utf-8` }).end(body);
    const lead = (to: string) => response.writeHead(303, { ...headersFor(serviceUrl), Location: to }).end();

    // Another name for this machine could be a stranger's web page.
    if (!isOurs(headers.host)) return void answer(403, notHere());
    if (method === 'POST') {
      const form = await readForm(request);
      if (!form) return void answer(403, notHere());
      if (url === '/orders') {
        const orderId = await keeper.place(form.get('goods') ?? '', form.get('chainId') ?? '');
        return void (orderId === null ? answer(400, notHere()) : lead(`/orders/${orderId}`));
      }
      const learning = form.get('learning');
      if (url !== '/learning' || (learning !== 'webhook' && learning !== 'feed')) return void answer(400, notHere());
      keeper.learnBy(learning);
      return void lead(
        book.now().orders.has(form.get('back')?.slice('/orders/'.length) ?? '') ? (form.get('back') ?? '/') : '/',
      );
    }
    if (method !== 'GET' && method !== 'HEAD') return void answer(405, notHere());
    const { pathname, searchParams } = new URL(url, 'http://shop');
    if (pathname === recipePath) {
      const sold = await sellRecipe(searchParams.get('order') ?? '', headers);
      const given = { ...headersFor(serviceUrl), ...sold.headers, 'Content-Type': 'application/json' };
      return void response.writeHead(sold.status, given).end(JSON.stringify(sold.body));
    }
    if (url === '/') return void answer(200, shelfPage(book.now(), settings()));
    const file = files.get(/^\/assets\/([\w.]+)$/.exec(url)?.[1] ?? '');
    if (file) return void answer(200, readFileSync(file[0], 'utf8'), file[1]);
    const order = book.now().orders.get(/^\/orders\/([\w-]+)$/.exec(url)?.[1] ?? '');
    answer(order ? 200 : 404, order ? orderPage(order, book.now().learning, serviceUrl) : notHere());
  };
}

const isOurs = (host: string | undefined): boolean => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '');

/** Null for a request from elsewhere, or one that is too long. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const { origin, host } = request.headers;
  const body = await bodyOf(request, formMax_bytes);
  return body && origin === `http://${host}` ? new URLSearchParams(body.toString('utf8')) : null;
}

/** Allows only the service's script and frame from elsewhere. */
const headersFor = (serviceUrl: string | null): Record<string, string> => ({
  'Content-Security-Policy': `default-src 'none'; script-src 'self' ${serviceUrl ?? ''}; frame-src ${serviceUrl ?? "'none'"}; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
});
