/** The table below a plot: Postgres's answer, row by row. */
import type { VNode } from 'preact';
import { type ChainId, chainIds, chainOf } from '../../domain/chains.ts';
import { type AnswerRow, exactSum, roundedTo } from '../../queries/monthlyReport.ts';
import { decimalText } from '../../queries/sql.ts';
import { dayText, grouped, lengthIn, percentText } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import { isRightToLeft, type PlainName, pageLanguage, sayContent, sayText } from '../parts/say.ts';

/** Display format of a value. */
export type ValueFormat = 'text' | 'day' | 'count' | 'money' | 'fine' | 'percent' | 'chain' | 'seconds';

export interface TableColumn {
  readonly name: string;
  readonly head: string;
  readonly reads: ValueFormat;
  /** Its rows count different subjects. */
  readonly unsummed?: true;
  /** Texts of some values. */
  readonly words?: Readonly<Record<string, PlainName>>;
}

const summed: ReadonlySet<ValueFormat> = new Set(['count', 'money', 'fine']);

export const answerTable = (
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly AnswerRow[],
  total: boolean,
): VNode =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${sayText('reportAsTable', { caption })}><table>
    <caption class="visually-hidden">${caption}</caption>
    <thead><tr>${columns.map((column) => html`<th scope="col" class=${classOf(column)}>${column.head}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (row) => html`<tr>${columns.map((column) => cellOf(column, row[column.name] ?? null))}</tr>`,
    )}</tbody>
    ${total && rows.length > 1 && html`<tfoot><tr>${columns.map((column, place) => totalOf(column, place, rows))}</tr></tfoot>`}
  </table></div>`;

const words: ReadonlySet<ValueFormat> = new Set(['text', 'day', 'chain', 'seconds']);
const classOf = ({ reads }: TableColumn): string | undefined => (words.has(reads) ? undefined : 'number');

/** `value` is Postgres's text. */
const cellOf = (column: TableColumn, value: string | null): VNode =>
  html`<td class=${classOf(column)}><data value=${value ?? ''}>${value === null ? '–' : displayOf(column, value)}</data></td>`;

const displayOf = (column: TableColumn, value: string): Content =>
  classOf(column) === undefined ? cellText(column, value) : numberPart(cellText(column, value));

function totalOf(column: TableColumn, place: number, rows: readonly AnswerRow[]): VNode {
  if (place === 0) return html`<th scope="row">${sayContent('reportTogether')}</th>`;
  if (!summed.has(column.reads) || column.unsummed) return html`<td></td>`;
  return html`<td class="number">${numberPart(cellText(column, totalIn(rows, column.name)))}</td>`;
}

/** A number with its own direction, so that a minus stays on its left. */
export const numberPart = (text: string): Content => (isRightToLeft() ? html`<span dir="ltr">${text}</span>` : text);

/** Exact sum of a column. */
export const totalIn = (rows: readonly AnswerRow[], name: string): string =>
  exactSum(rows.map((row) => row[name] ?? '0'));

export function cellText({ reads, words: own = {} }: Pick<TableColumn, 'reads' | 'words'>, value: string): string {
  const word = own[value];
  if (word !== undefined) return sayText(word);
  switch (reads) {
    case 'count':
      return grouped(value);
    case 'money':
      return money(value);
    case 'fine':
      return fineAmount(value);
    case 'day':
      return dayText(value);
    case 'percent':
      return percentText(value);
    case 'chain':
      return chainText(value);
    case 'seconds':
      return durationText(Number(value));
    default:
      return value;
  }
}

/** For a text at the start of a sentence or a column. */
export const capitalized = (text: string): string =>
  `${text.charAt(0).toLocaleUpperCase(pageLanguage())}${text.slice(1)}`;

/** All its places, at least two. */
export const money = (value: string): string => grouped(decimalText(value));

/** For gas: a transaction may cost a tenth of a cent. */
export const fineAmount = (value: string): string => grouped(roundedTo(value, 4));

export function chainText(id: string): string {
  const chainId = Number(id) as ChainId;
  return chainIds.includes(chainId) ? chainOf(chainId).name : sayText('reportUnknownChain', { id });
}

export function durationText(seconds: number): string {
  if (seconds < 60) return lengthIn(seconds, 'second', 's');
  return seconds < 3_600 ? lengthIn(seconds / 60, 'minute', 'min') : lengthIn(seconds / 3_600, 'hour', 'h');
}
