import type { VNode } from 'preact';
import { html } from './html.ts';

/** Long ids are compared by their ends. */
const ends = 4;

/** The whole address, its first and last four characters standing out: people compare those. */
export function address(text: string): VNode {
  const [start, end] = endsOf(text);
  if (text.length <= 3 * ends) return html`<span class="mono" dir="ltr">${text}</span>`;
  return html`<span class="mono" dir="ltr"><b>${start}</b>${text.slice(start.length, -end.length)}<b>${end}</b></span>`;
}

/** `0x4f1a…8f21`, the whole one on hovering. */
export const shortAddress = (text: string): VNode =>
  html`<span class="mono" dir="ltr" title=${text}>${shortText(text)}</span>`;

export function shortText(text: string): string {
  const [start, end] = endsOf(text);
  return text.length <= start.length + end.length + 1 ? text : `${start}…${end}`;
}

/** The mark of hexadecimal is no part of what is compared. */
const endsOf = (text: string): readonly [start: string, end: string] => [
  text.slice(0, text.startsWith('0x') ? ends + 2 : ends),
  text.slice(-ends),
];
