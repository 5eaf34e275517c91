import type { VNode } from 'preact';
import { type Content, html } from './html.ts';
import { icon } from './icon.ts';
import { withQuery } from './paths.ts';
import { sayContent, sayText } from './say.ts';

/**
 * Content of a column, which decides its position when a row becomes a card on a narrow screen. title: name of the row; number: aligned at
 * the end; chip: its state; when; note: below; detail: below, labelled with its heading; action: a control.
 */
export type ColumnKind = 'title' | 'number' | 'chip' | 'when' | 'note' | 'detail' | 'action';

/** Class names of the style sheet. */
const classes: Readonly<Record<ColumnKind, string>> = {
  title: 'title',
  number: 'number',
  chip: 'state',
  when: 'when',
  note: 'note',
  detail: 'detail',
  action: 'action',
};

export interface Column {
  readonly head: string;
  readonly kind: ColumnKind;
  /** The rows are sorted by this column. */
  readonly sorted?: 'ascending' | 'descending';
}

/** Rows of cells. The roles stay the same when a narrow screen displays each row as a card. */
export const table = (caption: string, columns: readonly Column[], rows: readonly (readonly Content[])[]): VNode =>
  html`<table role="table">
    <caption class="visually-hidden">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map(headOf)}</tr></thead>
    <tbody role="rowgroup">${rows.map(
      (cells) => html`<tr role="row">${cells.map((cell, place) => cellOf(columns[place], cell))}</tr>`,
    )}</tbody>
  </table>`;

const headOf = ({ head, kind, sorted }: Column): VNode =>
  html`<th role="columnheader" scope="col" class=${classes[kind]} aria-sort=${sorted}>
    ${kind === 'action' ? html`<span class="visually-hidden">${head}</span>` : head}</th>`;

function cellOf(column: Column | undefined, cell: Content): VNode | null {
  if (!column) return null;
  const none = cell === null || cell === undefined || cell === '' || cell === false;
  return html`<td role="cell" class=${`${classes[column.kind]}${none ? ' none' : ''}`} data-head=${column.kind === 'detail' ? column.head : undefined}>${none ? null : cell}</td>`;
}

export interface PagerModel {
  readonly path: string;
  /** Other parameters of the address. */
  readonly query?: Readonly<Record<string, string | null>>;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  /** Words of the two links. Default: of a list that begins with the newest. */
  readonly first?: string;
  readonly next?: string;
}

/** Links to the newest and to older entries. Null if everything is on one page. */
export function pager({
  path,
  query = {},
  cursor,
  nextCursor,
  first = sayText('newest'),
  next = sayText('older'),
}: PagerModel): VNode | null {
  if (cursor === null && nextCursor === null) return null;
  return html`<nav class="pager" aria-label=${sayContent('pages')}>
    ${
      cursor !== null &&
      html`<a class="button plain" rel="first" href=${withQuery(path, query)}>
    ${icon('back')}${first}</a>`
    }
    ${nextCursor !== null && html`<a class="button plain" rel="next" href=${withQuery(path, { ...query, cursor: nextCursor })}>${next}${icon('forth')}</a>`}
  </nav>`;
}
