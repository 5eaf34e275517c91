import type { VNode } from 'preact';
import { html } from '../parts/html.ts';

/**
 * Money reads from left to right in every language. Thousands are not grouped: for half of the readers a comma is a decimal point.
 *
 * @param amount as a decimal text
 */
export const sum = (amount: string, tokenSymbol: string): VNode =>
  html`<span class="money" dir="ltr"><b>${amount}</b> <small>${tokenSymbol}</small></span>`;
