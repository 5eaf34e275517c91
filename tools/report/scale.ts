/** What the plots share: sizes, round numbers for axes, short numbers. */

/** Letters keep their size: there is one drawing for each width, and the style sheet shows the one that fits. */
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

/** The first of 1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10 … that holds the most: four lines divide each of them well. Of counts at least 4. */
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

/** `0`, `250`, `1.25k`, `3M`, `0.004` */
export function short(value: number): string {
  const [size, mark] = marks.find(([candidate]) => Math.abs(value) >= candidate) ?? [1, ''];
  return `${Number((value / size).toPrecision(3))}${mark}`;
}

export const round = (value: number): number => Math.round(value * 10) / 10;
