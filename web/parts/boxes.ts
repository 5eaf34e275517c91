import type { VNode } from 'preact';
import { type Content, html } from './html.ts';

export interface Heading {
  readonly title: string;
  /** A few words beside the title. */
  readonly note?: Content;
  /** Controls at the line's end. */
  readonly controls?: Content;
  /** Names a part that client/live.js renews. */
  readonly live?: string;
}

/** One matter, with its heading. */
export const card = ({ title, note, controls, live }: Heading, content: Content): VNode =>
  html`<section class="card" id=${live} data-live=${live && 'part'}>
    <header><h2>${title}</h2>${note && html`<span class="small muted">${note}</span>`}
    ${controls && html`<div class="controls">${controls}</div>`}</header>
    ${content}
  </section>`;

/** The inside of a card that is text, a form, a list of pairs. */
export const inside = (content: Content): VNode => html`<div class="inside">${content}</div>`;

/** Names and values below each other. */
export const pairs = (rows: readonly (readonly [name: string, value: Content] | null)[]): VNode =>
  html`<dl class="pairs">${rows.map((row) => row && html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>`)}</dl>`;

/** Says what will be here, and how it comes to be. */
export const empty = (title: string, content: Content, action?: Content): VNode =>
  html`<div class="empty"><p class="title">${title}</p><div>${content}</div>${action}</div>`;
