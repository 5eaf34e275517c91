/** A merchant's colour with enough contrast on every background. Contrast as in WCAG 2.2. */
import { html } from './html.ts';

/** Minimum contrast of text. */
export const readable = 4.5;

/** `#0a5c48` as red, green and blue from 0 to 255; null for any other text. */
export function readColour(text: string): readonly number[] | null {
  const digits = /^#([0-9a-f]{6})$/i.exec(text)?.[1];
  return digits === undefined ? null : [0, 2, 4].map((place) => Number.parseInt(digits.slice(place, place + 2), 16));
}

const luminance = (colour: readonly number[]): number => {
  const [red = 0, green = 0, blue = 0] = colour.map((channel) => {
    const part = channel / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** From 1 (the same) to 21 (black and white). */
export function contrast(one: readonly number[], other: readonly number[]): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const white = [255, 255, 255];
const black = [0, 0, 0];

/** Black or white, whichever is readable on the colour: one of the two always is, with at least 4.5. */
export const inkOn = (colour: readonly number[]): readonly number[] =>
  contrast(colour, white) >= readable ? white : black;

/** The colour itself, or the smallest change that makes it readable on `ground`. */
export function readableOn(ground: readonly number[], colour: readonly number[]): readonly number[] {
  const towards = luminance(ground) > 0.18 ? black : white;
  for (let share = 0; share < 1; share += 0.02) {
    const mixed = colour.map((channel, place) => Math.round(channel + ((towards[place] ?? 0) - channel) * share));
    if (contrast(mixed, ground) >= readable) return mixed;
  }
  return towards;
}

const colourHex = (colour: readonly number[]): string =>
  `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

// A merchant's colour as a separate stylesheet: the pages' policy allows no inline style.

/** Card colours in look.css, light and dark. */
const surfaces = { light: [255, 255, 255], dark: [23, 25, 28] } as const;

/**
 * Buttons have the colour itself in light mode, and the nearest readable one in dark mode; text on it has at least 4.5 : 1.
 * @param colour `#rrggbb` @returns null for any other text
 */
export function colourSheet(colour: string): string | null {
  const own = readColour(colour);
  if (own === null) return null;
  const light = readableOn(surfaces.light, own);
  const dark = readableOn(surfaces.dark, own);
  return [
    `:root{--accent:${colourHex(own)};--on-accent:${colourHex(inkOn(own))}}.mono b{color:${colourHex(light)}}`,
    `@media (prefers-color-scheme:dark){:root{--accent:${colourHex(dark)};--on-accent:${colourHex(inkOn(dark))}}.mono b{color:${colourHex(dark)}}}`,
    '',
  ].join('\n');
}

/** Path of a colour's stylesheet. @param colour `#rrggbb` */
export const colourPath = (colour: string): string => `/colours/${colour.slice(1)}.css`;

export const colourLink = (colour: string | null) =>
  colour !== null && html`<link rel="stylesheet" href=${colourPath(colour)} />`;
