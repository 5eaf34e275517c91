/** Horizontal bars, each of one or several parts, with names and numbers: stages, routes, reasons. */

import type { VNode } from 'preact';
import { html } from '../parts/html.ts';
import { directionMarks } from '../parts/language.ts';
import { isRightToLeft, pageLanguage, pageLocale } from '../parts/say.ts';

/** Shared by the plots: sizes, round numbers for axes, short numbers. */

/** Text keeps its size: there is one drawing per width, and the style sheet displays the one that fits. */
export interface Size {
  readonly name: 'narrow' | 'middle' | 'broad' | 'wide';
  readonly width: number;
}

export const sizes: readonly Size[] = [
  { name: 'narrow', width: 310 },
  { name: 'middle', width: 500 },
  { name: 'broad', width: 700 },
  { name: 'wide', width: 930 },
];

/** The first of 1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10 … above the maximum: four lines divide each of them well. For counts at least 4. */
export function topOf(most: number, least = 0): number {
  if (most <= least) return Math.max(least, 4e-9);
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find((candidate) => candidate * power >= most * (1 - 1e-12)) ?? 10;
  return step * power;
}

const marks: readonly (readonly [number, string])[] = [
  [1e9, 'bn'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** `0`, `250`, `1.25k`, `3M`, `0.004`, in the language's format. */
export function short(value: number): string {
  if (pageLanguage() !== 'en')
    return new Intl.NumberFormat(pageLocale(), { notation: 'compact', maximumSignificantDigits: 3 })
      .format(value)
      .replaceAll(directionMarks, '');
  const [size, mark] = marks.find(([candidate]) => Math.abs(value) >= candidate) ?? [1, ''];
  return `${Number((value / size).toPrecision(3))}${mark}`;
}

export const round = (value: number): number => Math.round(value * 10) / 10;

type Anchor = 'start' | 'middle' | 'end';
const mirrored: Readonly<Record<Anchor, Anchor>> = { start: 'end', middle: 'middle', end: 'start' };

/** Attributes of a text in the page's language. Drawings run from left to right, so `start` is the text's left end in every language. */
function wording(anchor: Anchor): Readonly<Record<string, string>> {
  if (isRightToLeft()) return { direction: 'rtl', 'text-anchor': mirrored[anchor] };
  return anchor === 'start' ? {} : { 'text-anchor': anchor };
}

/** A colour of the style sheet, with its entry in the legend. */
export type Tone = 'first' | 'second' | 'age1' | 'age2' | 'age3' | 'age4' | 'rest';

export interface BarPart {
  readonly tone: Tone;
  readonly value: number;
  readonly title: string;
}

export interface BarMark {
  readonly name: string;
  /** One bar per line, whose parts follow each other. */
  readonly lines: readonly { readonly parts: readonly BarPart[]; readonly text: string }[];
}

export interface BarsPlot {
  readonly spoken: string;
  readonly bars: readonly BarMark[];
  readonly legend?: readonly (readonly [tone: Tone, text: string])[];
}

const nameHeight = 20;
const gap = 14;

export const barsPlot = ({ legend = [], ...plot }: BarsPlot): VNode =>
  html`<div class="plot">${sizes.map((size) => drawing(size, plot))}
    ${legend.length > 0 && html`<ul class="legend">${legend.map(([tone, text]) => html`<li><i class=${`tone ${tone}`}></i>${text}</li>`)}</ul>`}
  </div>`;

function drawing({ name, width }: Size, { spoken, bars }: BarsPlot): VNode {
  const textWidth = 126;
  // Names are above their bars if there is no room beside them.
  const beside = name === 'wide' || name === 'broad' ? 215 : 0;
  const most = Math.max(1e-9, ...bars.flatMap(({ lines }) => lines.map(({ parts }) => totalOf(parts))));
  const inner = width - beside - textWidth;
  let y = 0;
  const drawn = bars.map(({ name: title, lines }) => {
    const thick = lines.length > 1 ? 14 : 22;
    const first = beside > 0 ? y : y + nameHeight;
    const at = lines.map((_, line) => first + line * (thick + 3));
    const end = (at.at(-1) ?? first) + thick;
    const nameY = beside > 0 ? (first + end) / 2 + 4 : y + 13;
    y = end + gap;
    return html`<g><text class="name" x="0" y=${round(nameY)} ...${wording('start')}>${title}</text>
      ${lines.map(({ parts, text }, line) => lineOf(parts, text, { x: beside, y: at[line] ?? first, thick, inner, most }))}</g>`;
  });
  const height = Math.max(1, y - gap + 2);
  return html`<svg class=${name} viewBox=${`0 0 ${width} ${round(height)}`} role="img" aria-label=${spoken}>${drawn}</svg>`;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly thick: number;
  readonly inner: number;
  readonly most: number;
}

function lineOf(parts: readonly BarPart[], text: string, { x, y, thick, inner, most }: Place): VNode {
  let from = x;
  const drawn = parts
    .filter(({ value }) => value > 0)
    .map(({ tone, value, title }) => {
      const long = Math.max(2, round((inner * value) / most));
      const rect = html`<rect class=${`tone ${tone}`} x=${round(from)} y=${y} width=${long} height=${thick} rx="2"><title>${title}</title></rect>`;
      from += long + 1;
      return rect;
    });
  return html`<g>${drawn}<text class="value" x=${round(from + (drawn.length > 0 ? 7 : 0))} y=${round(y + thick / 2 + 4)} direction=${isRightToLeft() ? 'ltr' : undefined}>${text}</text></g>`;
}

const totalOf = (parts: readonly BarPart[]): number => parts.reduce((sum, { value }) => sum + Math.max(0, value), 0);

export interface ColumnMark {
  /** Below the column. */
  readonly label: string;
  readonly value: number;
  /** Tooltip. */
  readonly title: string;
}

export interface ColumnsPlot {
  /** For screen readers. */
  readonly spoken: string;
  readonly columns: readonly ColumnMark[];
  /** Minimum end of the axis: counts of ones and twos need no halves. */
  readonly least: number;
  /** Every column has its label if they fit, or every seventh one. */
  readonly labels: 'each' | 'sevenths';
}

const scaleWidth = 46;
const footHeight = 22;
const topHeight = 8;
const lines = 4;

/** Draws columns side by side: the days of a month, or ranges of durations. */
export const columnsPlot = (plot: ColumnsPlot): VNode =>
  html`<div class="plot">${sizes.map((size) => columnsDrawing(size, plot))}</div>`;

function columnsDrawing({ name, width }: Size, { spoken, columns, least, labels }: ColumnsPlot): VNode {
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
        <text x=${inner + 8} y=${yOf(value) + 4} ...${wording('start')}>${short(value)}</text></g>`,
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
    ? html`<text ...${wording('end')} transform=${`translate(${round(x + 4)} ${y - 6}) rotate(-55)`}>${label}</text>`
    : html`<text x=${round(x)} y=${y} ...${wording('middle')}>${label}</text>`;
