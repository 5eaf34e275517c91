/** Parts of a payer's pages: a line to copy, an amount, the merchant's contact, and the lines of an order. */
import type { VNode } from 'preact';
import type { LineItem } from '../../domain/payment/lineItems.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import type { Say } from './language.ts';
import { type PayModel, type Said, shopName } from './model.ts';

export type LineName =
  | 'sendTo'
  | 'memo'
  | 'exactAmount'
  | 'amount'
  | 'token'
  | 'contract'
  | 'sender'
  | 'inUnits'
  | 'command'
  | 'to'
  | 'refundMemo'
  | 'refundWords';

/** A name, its value, and a copy button. @param copied null without a copyable text */
export const line = (say: Say, name: LineName, value: Content, copied: string | null = null): VNode =>
  html`<div class="line"><dt>${say(name)}</dt><dd><div>${value}</div>${copied !== null && copy(say, copied, say.text(name))}</dd></div>`;

/** Visible if a script can copy (client/copy.js). */
const copy = (say: Say, text: string, what: string): VNode =>
  html`<button class="button small copy" type="button" hidden data-copy=${text} data-copied=${say.text('copiedWhat', { what })} data-told=${say.text('copied')} data-failed=${say.text('byHand')}>${icon('copy')}<span>${say('copy')}</span><span class="visually-hidden"> ${what}</span></button>`;

/**
 * Money reads from left to right in every language. Thousands are not grouped: for half of the readers a comma is a decimal point.
 *
 * @param amount as a decimal text
 */
export const sum = (amount: string, tokenSymbol: string): VNode =>
  html`<span class="money" dir="ltr"><b>${amount}</b> <small>${tokenSymbol}</small></span>`;

/** Contact of the merchant: on every page of a payment or a link. */
export function help(model: Said): VNode {
  const { say, shop } = model;
  const merchant = shopName(model);
  const { supportContact } = shop;
  return html`<section class="help" id="help" tabindex="-1">
    <h2>${say('helpTitle')}</h2>
    <p>${supportContact === null ? say('helpShop', { merchant }) : say('helpContact', { merchant, contact: contact(supportContact) })}</p>
  </section>`;
}

const contact = (text: string): VNode =>
  text.startsWith('https://')
    ? html`<a href=${text} target="_top" rel="noopener noreferrer" dir="ltr">${text}</a>`
    : html`<a href=${`mailto:${text}`} target="_top" dir="ltr">${text}</a>`;

// Title in large letters, description, and lines of the order.

/** Maximum lines before the rest is folded. */
const shownMax = 4;

/**
 * Returns the merchant's name of the order; null without one: the service names the order of a reusable link
 * (commands/links.ts).
 */
export function orderShown({ orderId, metadata }: Pick<PaymentView, 'orderId' | 'metadata'>): string | null {
  const isOfLink = typeof metadata?.['linkId'] === 'string' && orderId?.startsWith('link-');
  return isOfLink ? null : orderId;
}

/** Nothing if the merchant stated nothing. @param how a receipt on paper folds nothing */
export function bought(model: PayModel, how: 'folded' | 'whole' = 'folded'): VNode | false {
  const { say } = model;
  const { title, description, lineItems } = model.facts.payment;
  if (title === null && description === null && lineItems === null) return false;
  return html`<div class="bought">
    ${title === null ? lineItems !== null && html`<h2 class="visually-hidden">${say('bought')}</h2>` : html`<h2>${bdi(title)}</h2>`}
    ${description !== null && html`<p class="muted">${bdi(description)}</p>`}
    ${lineItems !== null && lines(model, lineItems, how === 'whole' ? lineItems.length : shownMax)}
  </div>`;
}

/** The currency of the lines is that of the side with the order's amount. */
function lines(model: PayModel, items: readonly LineItem[], most: number): VNode {
  const { say } = model;
  const { type, sourceTokenSymbol, destinationTokenSymbol } = model.facts.payment;
  const token = type === 'exactIn' ? sourceTokenSymbol : destinationTokenSymbol;
  const list = (some: readonly LineItem[]): VNode =>
    html`<ul class="items">${some.map(
      ({ name, quantity, amount }) =>
        html`<li><span>${quantity > 1 && html`<span class="muted">${say('pieces', { count: String(quantity) })} </span>`}${bdi(name)}</span>${sum(amount, token)}</li>`,
    )}</ul>`;
  if (items.length <= most) return list(items);
  return html`<details class="items-all"><summary>${say('itemsAll', { count: String(items.length) })}</summary>${list(items)}</details>`;
}
