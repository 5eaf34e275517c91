import type { VNode } from 'preact';
import { html } from './html.ts';

/** `16420.18` as people read it: `16,420.18`. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}

/** `1 payment`, `1,204 payments` */
export const counted = (count: number, thing: string): string =>
  `${grouped(String(count))} ${thing}${count === 1 ? '' : 's'}`;

/** Money reads from left to right in every language. */
export const amount = (decimal: string | null, symbol: string): VNode =>
  html`<span class="money" dir="ltr">${decimal === null ? 'any' : html`<b>${grouped(decimal)}</b>`} <small>${symbol}
    </small></span>`;

/** For a sentence: `10.00 USDC`. */
export const amountText = (decimal: string | null, symbol: string): string =>
  decimal === null ? `any amount of ${symbol}` : `${grouped(decimal)} ${symbol}`;
