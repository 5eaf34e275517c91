/** Bars below each other, each of one or several parts, with their names and numbers: stages, routes, reasons. */
import type { VNode } from 'preact';
import { html } from '../../web/parts/html.ts';
import { round, type Size, sizes } from './scale.ts';

/** Names a colour of the style sheet, and stands in the legend. */
export type Tone = 'first' | 'second' | 'age1' | 'age2' | 'age3' | 'age4' | 'rest';

export interface BarPart {
  readonly tone: Tone;
  readonly value: number;
  readonly title: string;
}

export interface BarMark {
  readonly name: string;
  /** One line each, below each other: the parts of a line stand behind each other. */
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
  // Names stand above their bars where there is no room beside them.
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
    return html`<g><text class="name" x="0" y=${round(nameY)}>${title}</text>
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
  return html`<g>${drawn}<text class="value" x=${round(from + (drawn.length > 0 ? 7 : 0))} y=${round(y + thick / 2 + 4)}>${text}</text></g>`;
}

const totalOf = (parts: readonly BarPart[]): number => parts.reduce((sum, { value }) => sum + Math.max(0, value), 0);
