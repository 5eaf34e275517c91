/** A merchant's colour as a separate stylesheet: the pages' policy allows no inline style. */
import { colourHex, inkOn, readableOn, readColour } from '../parts/colour.ts';
import { html } from '../parts/html.ts';

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
