/** Contact of the merchant: on every page of a payment or a link. */
import type { VNode } from 'preact';
import { html } from '../parts/html.ts';
import { type Said, shopName } from './model.ts';

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
