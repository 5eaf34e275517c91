/** The table below a plot: Postgres's answer, row by row. */
import type { VNode } from 'preact';
import { type ChainId, chainIds, chainOf } from '../../domain/chains.ts';
import { type AnswerRow, exactSum, roundedTo } from '../../queries/monthlyReport.ts';
import { decimalText } from '../../queries/sql.ts';
import { dayText, grouped } from '../parts/cells.ts';
import { html } from '../parts/html.ts';

/** Display format of a value. */
export type ValueFormat = 'text' | 'day' | 'count' | 'money' | 'fine' | 'percent' | 'chain' | 'seconds';

export interface TableColumn {
  readonly name: string;
  readonly head: string;
  readonly reads: ValueFormat;
  /** Its rows count different subjects. */
  readonly unsummed?: true;
  /** Display texts of some values. */
  readonly words?: Readonly<Record<string, string>>;
}

const summed: ReadonlySet<ValueFormat> = new Set(['count', 'money', 'fine']);

export const answerTable = (
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly AnswerRow[],
  total: boolean,
): VNode =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${`${caption}, as a table`}><table>
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
  html`<td class=${classOf(column)}><data value=${value ?? ''}>${value === null ? '–' : cellText(column, value)}</data></td>`;

function totalOf(column: TableColumn, place: number, rows: readonly AnswerRow[]): VNode {
  if (place === 0) return html`<th scope="row">Together</th>`;
  if (!summed.has(column.reads) || column.unsummed) return html`<td></td>`;
  return html`<td class="number">${cellText(column, totalIn(rows, column.name))}</td>`;
}

/** Exact sum of a column. */
export const totalIn = (rows: readonly AnswerRow[], name: string): string =>
  exactSum(rows.map((row) => row[name] ?? '0'));

export function cellText({ reads, words: own = {} }: Pick<TableColumn, 'reads' | 'words'>, value: string): string {
  const word = own[value];
  if (word !== undefined) return word;
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
      return `${value} %`;
    case 'chain':
      return chainText(value);
    case 'seconds':
      return durationText(Number(value));
    default:
      return value;
  }
}

/** All its places, at least two. */
export const money = (value: string): string => grouped(decimalText(value));

/** For gas: a transaction may cost a tenth of a cent. */
export const fineAmount = (value: string): string => grouped(roundedTo(value, 4));

export function chainText(id: string): string {
  const chainId = Number(id) as ChainId;
  return chainIds.includes(chainId) ? chainOf(chainId).name : `chain ${id}`;
}

export function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3_600 ? `${seconds / 60} min` : `${seconds / 3_600} h`;
}
