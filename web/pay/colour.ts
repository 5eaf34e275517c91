/** A merchant's colour as a stylesheet of its own: the pages' policy allows no style in them. */
import { hexOf, inkOn, readableOn, readColour } from '../parts/colour.ts';
import { html } from '../parts/html.ts';

/** What cards are in look.css, by day and by night. */
const surfaces = { light: [255, 255, 255], dark: [23, 25, 28] } as const;

/**
 * Buttons have the colour itself by day, and as little lighter as can be read by night; text in it can always be read, by 4.5 : 1.
 * @param colour `#rrggbb` @returns null for what is none
 */
export function colourSheet(colour: string): string | null {
  const own = readColour(colour);
  if (own === null) return null;
  const light = readableOn(surfaces.light, own);
  const dark = readableOn(surfaces.dark, own);
  return [
    `:root{--accent:${hexOf(own)};--on-accent:${hexOf(inkOn(own))}}.mono b{color:${hexOf(light)}}`,
    `@media (prefers-color-scheme:dark){:root{--accent:${hexOf(dark)};--on-accent:${hexOf(inkOn(dark))}}.mono b{color:${hexOf(dark)}}}`,
    '',
  ].join('\n');
}

/** Where the stylesheet of a colour is. @param colour `#rrggbb` */
export const colourPath = (colour: string): string => `/colours/${colour.slice(1)}.css`;

export const colourLink = (colour: string | null) =>
  colour !== null && html`<link rel="stylesheet" href=${colourPath(colour)} />`;
