/** A chart of bars. */

import type { VNode } from 'preact';
import { dayText, grouped } from './cells.ts';
import { html } from './html.ts';
import { sayContent, sayCount, sayText } from './say.ts';

export interface Bar {
  /** `2026-11-22` */
  readonly date: string;
  readonly value: string;
  readonly count: number;
}

interface Size {
  readonly name: 'narrow' | 'middle' | 'wide';
  readonly width: number;
  readonly height: number;
  /** Days from one label to the next, counted from the last. */
  readonly every: number;
}

/** Text keeps its size: there is one drawing per width, and the style sheet displays the one that fits. */
const sizes: readonly Size[] = [
  { name: 'narrow', width: 300, height: 170, every: 10 },
  { name: 'middle', width: 560, height: 190, every: 7 },
  { name: 'wide', width: 960, height: 214, every: 7 },
];

const scaleWidth = 44;
const footHeight = 20;
const topHeight = 8;
const lines = 4;

/** Bars of days, the last of them today, which is incomplete. */
export function barChart(label: string, unit: string, bars: readonly Bar[]): VNode {
  const top = topOf(Math.max(0, ...bars.map(({ value }) => Number(value))));
  const spoken = sayText('chartSpoken', { label, days: String(bars.length), most: grouped(mostOf(bars)), unit });
  return html`<figure class="chart">
    ${sizes.map((size) => drawing(size, spoken, unit, bars, top))}
    <figcaption><details><summary>${sayContent('asTable')}</summary>${asTable(unit, bars)}</details></figcaption>
  </figure>`;
}

function drawing(size: Size, label: string, unit: string, bars: readonly Bar[], top: number) {
  const { name, width, height } = size;
  const inner = width - scaleWidth;
  const floor = height - footHeight;
  const slot = inner / bars.length;
  const barWidth = round(Math.min(slot * 0.7, 56));
  const heightOf = (value: number) => round(((floor - topHeight) * value) / top);
  return html`<svg class=${name} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${label}>
    ${Array.from({ length: lines + 1 }, (_, line) => {
      const y = round(floor - heightOf((top * line) / lines));
      return html`<g><line x1="0" x2=${inner} y1=${y} y2=${y} /><text x=${inner + 8} y=${y + 4}>
        ${scaleText((top * line) / lines)}</text></g>`;
    })}
    ${bars.map(({ date, value, count }, place) => {
      const x = round(slot * place + (slot - barWidth) / 2);
      const tall = Number(value) > 0 ? Math.max(2, heightOf(Number(value))) : 0;
      const last = place === bars.length - 1;
      const round_px = round(Math.min(3, barWidth / 3));
      return html`<g>
        <rect class=${last ? 'rest' : undefined} x=${x} y=${round(floor - tall)} width=${barWidth} height=${tall} rx=${round_px}>
          <title>${sayText('chartBar', { day: dayText(date), amount: `${grouped(value)} ${unit}`, payments: sayCount('paymentCount', count) })}</title>
        </rect>
        ${
          isLabelled(size, bars.length, place) &&
          html`<text class="day" x=${round(x + barWidth / 2)} y=${height - 4} text-anchor=${last && bars.length > fewDays ? 'end' : 'middle'}>
            ${dayText(date)}
          </text>`
        }
      </g>`;
    })}
  </svg>`;
}

/** Maximum days with a label on each or every other one. */
const fewDays = 10;

function isLabelled({ name, every }: Size, days: number, place: number): boolean {
  const ago = days - 1 - place;
  return ago % (days > fewDays ? every : name === 'narrow' ? 2 : 1) === 0;
}

const asTable = (unit: string, bars: readonly Bar[]): VNode =>
  html`<table class="plain"><thead><tr><th scope="col">${sayContent('dayUtc')}</th><th scope="col" class="number">${unit}</th>
    <th scope="col" class="number">${sayContent('payments')}</th></tr></thead>
  <tbody>${bars.map(
    ({ date, value, count }) => html`<tr><th scope="row">${dayText(date)}</th><td class="number">
  ${grouped(value)}</td><td class="number">${count}</td></tr>`,
  )}</tbody></table>`;

/** The first of 1, 2, 4, 5, 8, 10 … above the maximum; four lines divide each of them well. */
function topOf(most: number): number {
  if (most <= 0) return 4;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 4, 5, 8, 10].find((candidate) => candidate * power >= most) ?? 10;
  return step * power;
}

const mostOf = (bars: readonly Bar[]): string =>
  bars.reduce((most, { value }) => (Number(value) > Number(most) ? value : most), '0');

/** `0`, `250`, `1.25k`, `3M` */
function scaleText(value: number): string {
  const units: readonly (readonly [number, string])[] = [
    [1e9, 'bn'],
    [1e6, 'M'],
    [1e3, 'k'],
  ];
  const [size, mark] = units.find(([candidate]) => value >= candidate) ?? [1, ''];
  return `${Number((value / size).toPrecision(3))}${mark}`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
