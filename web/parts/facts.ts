import type { VNode } from 'preact';
import { type Content, html } from './html.ts';

export interface Fact {
  readonly term: string;
  readonly value: Content;
  readonly note: Content;
}

/** A few numbers, side by side. */
export const facts = (list: readonly Fact[]): VNode =>
  html`<dl class="facts card" id="facts" data-live="part">${list.map(
    ({ term, value, note }) =>
      html`<div><dt>${term}</dt><dd class="value">${value}</dd><dd class="small muted">${note}</dd></div>`,
  )}</dl>`;
