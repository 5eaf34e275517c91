/** Columns side by side: days of a month, ranges of durations. */
import type { VNode } from 'preact';
import { html } from '../../web/parts/html.ts';
import { round, type Size, short, sizes, topOf } from './scale.ts';

export interface ColumnMark {
  /** Below the column. */
  readonly label: string;
  readonly value: number;
  /** What it says when one points at it. */
  readonly title: string;
}

export interface ColumnsPlot {
  /** For whoever hears the page. */
  readonly spoken: string;
  readonly columns: readonly ColumnMark[];
  /** The least that the axis reaches: counts of ones and twos need no halves. */
  readonly least: number;
  /** Every column has its label where they fit, or every seventh one. */
  readonly labels: 'each' | 'sevenths';
}

const scaleWidth = 46;
const footHeight = 22;
const topHeight = 8;
const lines = 4;

export const columnsPlot = (plot: ColumnsPlot): VNode =>
  html`<div class="plot">${sizes.map((size) => drawing(size, plot))}</div>`;

function drawing({ name, width }: Size, { spoken, columns, least, labels }: ColumnsPlot): VNode {
  const turned = labels === 'each' && name === 'narrow';
  const foot = turned ? footHeight + 34 : footHeight;
  const height = (name === 'wide' ? 220 : 190) + foot - footHeight;
  const inner = width - scaleWidth;
  const floor = height - foot;
  const top = topOf(Math.max(0, ...columns.map(({ value }) => value)), least);
  const slot = inner / Math.max(1, columns.length);
  const wide = round(Math.min(slot * 0.72, 54));
  const yOf = (value: number) => round(floor - ((floor - topHeight) * value) / top);
  return html`<svg class=${name} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${spoken}>
    ${Array.from({ length: lines + 1 }, (_, line) => (top * line) / lines).map(
      (value) => html`<g><line x1="0" x2=${inner} y1=${yOf(value)} y2=${yOf(value)} />
        <text x=${inner + 8} y=${yOf(value) + 4}>${short(value)}</text></g>`,
    )}
    ${columns.map(({ label, value, title }, place) => {
      const x = round(slot * place + (slot - wide) / 2);
      const y = value > 0 ? Math.min(yOf(value), floor - 2) : floor;
      return html`<g>
        ${value > 0 && html`<rect x=${x} y=${y} width=${wide} height=${round(floor - y)} rx=${round(Math.min(3, wide / 3))}><title>${title}</title></rect>`}
        ${isLabelled(labels, place) && labelAt(label, x + wide / 2, floor + 16, turned)}
      </g>`;
    })}
  </svg>`;
}

const isLabelled = (labels: ColumnsPlot['labels'], place: number): boolean => labels === 'each' || place % 7 === 0;

const labelAt = (label: string, x: number, y: number, turned: boolean): VNode =>
  turned
    ? html`<text text-anchor="end" transform=${`translate(${round(x + 4)} ${y - 6}) rotate(-55)`}>${label}</text>`
    : html`<text x=${round(x)} y=${y} text-anchor="middle">${label}</text>`;
