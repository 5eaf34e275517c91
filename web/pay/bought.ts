/** Title in large letters, description, and lines of the order. */
import type { VNode } from 'preact';
import type { LineItem } from '../../domain/payment/lineItems.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { bdi, html } from '../parts/html.ts';
import type { PayModel } from './model.ts';
import { sum } from './sum.ts';

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
