/** Frame of the shop's pages, and its shelf. */
import type { VNode } from 'preact';
import { card, empty, statusChip } from '../../web/parts/boxes.ts';
import { choiceField, emptyForm, selectField, submit } from '../../web/parts/field.ts';
import { type Content, documentOf, html } from '../../web/parts/html.ts';
import { icon } from '../../web/parts/icon.ts';
import { goods } from './goods.ts';
import type { Book, Learning, Order } from './orders.ts';
import { recipePath, recipePrice } from './recipe.ts';
import type { ShopSettings } from './settings.ts';

const listedMax = 10;

/** @param serviceUrl whose script opens payments in a frame; null before the service has started */
export const shopPage = (title: string, serviceUrl: string | null, content: Content): string =>
  documentOf(html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${title} · Tea House</title>
      <link rel="stylesheet" href="/assets/look.css" />
      <link rel="stylesheet" href="/assets/shop.css" />
      <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
      <script type="module" src="/assets/shop.js"></script>
      ${serviceUrl !== null && html`<script type="module" src=${`${serviceUrl}/embed.js`}></script>`}
    </head>
    <body class="shop">
      <a class="skip" href="#main">Skip to the content</a>
      <aside class="mode" aria-label="Mode">${icon('alert')}<p><strong>Sandbox.</strong> A shop to look at: its tea and its money
      are simulated.</p></aside>
      <header><a class="who" href="/"><span class="mark" aria-hidden="true">T</span><strong>Tea House</strong></a></header>
      <main id="main" tabindex="-1">${content}</main>
    </body>
  </html>`);

/** The goods, the orders, and the mode. */
export const shelfPage = ({ orders, learning }: Book, settings: ShopSettings | null): string =>
  shopPage(
    'Tea',
    null,
    html`<div class="counter">
      <div class="stack">
        <h1>What may it be?</h1>
        ${card({ title: 'Our shelf' }, settings ? shelf(settings) : empty('Not open yet', 'The payment service is starting. Load the page again in a moment.'))}
        ${card({ title: 'For programs' }, forPrograms)}
      </div>
      <div class="stack">${behind(learning, '/')}${card({ title: 'Orders', note: 'newest first' }, list([...orders.values()].toReversed()))}</div>
    </div>`,
  );

const shelf = ({ chains }: ShopSettings): VNode =>
  html`<form class="inside" method="post" action="/orders">
    ${choiceField({ form: emptyForm, name: 'goods', label: 'Tea', options: goods.map(({ id, name, about, price }) => ({ value: id, label: `${name} · ${price} USDC`, hint: about })) })}
    ${selectField({ form: emptyForm, name: 'chainId', label: 'You pay on', options: chains.map(({ id, name }) => ({ value: id, label: name })) })}
    ${submit('Order')}
  </form>`;

const forPrograms = html`<div class="inside">
  <p>The recipe of the house blend costs ${recipePrice} USDC. A program buys it by x402 with one signature and no gas:</p>
  <p><code>GET ${recipePath}?order=</code>, with an id of its own: 16 to 64 letters and digits.</p>
</div>`;

const list = (orders: readonly Order[]): VNode =>
  orders.length === 0
    ? empty('No order yet', 'The first one will be here, whatever happens to the shop meanwhile.')
    : html`<ul class="list">${orders
        .slice(0, listedMax)
        .map(
          ({ orderId, goods: what, price, status }) =>
            html`<li><a class="go" href=${`/orders/${orderId}`}><span><strong>${what}</strong><small class="muted">${orderId} · ${price} USDC</small></span><div>${statusChip(status)}</div></a></li>`,
        )}</ul>`;

const ways: Readonly<Record<Learning, readonly [label: string, text: string]>> = {
  webhook: ['By webhook', 'The service calls the shop, which checks the signature.'],
  feed: ['By the feed alone', 'The shop reads the event feed: it needs no address that others can call.'],
};

/** The switch. @param back page to return to */
export const behind = (learning: Learning, back: string): VNode =>
  card(
    { title: 'How the shop learns of payments' },
    html`<form class="inside" method="post" action="/learning">
      <input type="hidden" name="back" value=${back} />
      <div class="columns">${(Object.keys(ways) as Learning[]).map(
        (way) =>
          html`<button class=${`button ${way === learning ? 'primary' : 'plain'}`} type="submit" name="learning" value=${way} aria-pressed=${String(way === learning)}>${ways[way][0]}</button>`,
      )}</div>
      <p class="small muted">${ways[learning][1]}</p>
    </form>`,
  );
