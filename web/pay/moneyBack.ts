/** Where money that is held goes back to: what its payer has said, and the page on which he says it. */
import type { VNode } from 'preact';
import { shortText } from '../parts/address.ts';
import { html } from '../parts/html.ts';
import { withQuery } from '../parts/paths.ts';
import { type PayModel, shopName } from './model.ts';

/** Empty while nothing is held for good. */
export function moneyBack(model: PayModel): VNode {
  const { say, facts, path } = model;
  const { owners } = facts;
  if (owners.length === 0) return html`<div id="money-back" data-live="part"></div>`;
  const known = new Map(owners.flatMap(({ sender, receiver }) => (receiver ? [[sender, receiver.address]] : [])));
  const all = owners.every(({ receiver }) => receiver !== null);
  const where = withQuery(`${path}/refund`, { lang: say.language });
  return html`<div id="money-back" data-live="part"><section class="ways">
    ${[...known.values()].map((address) => html`<p class="small">${say('refundKnown', { address: shown(address), merchant: shopName(model) })}</p>`)}
    <a class="button" href=${where}>${say(all ? 'refundChange' : 'refundSay')}</a>
  </section></div>`;
}

const shown = (address: string): VNode =>
  html`<span class="mono" dir="ltr" title=${address}>${shortText(address)}</span>`;
