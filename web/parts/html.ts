import { html as template } from 'htm/preact';
import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';

/** What a template may hold. Texts are escaped. */
export type Content = VNode | string | number | null | undefined | false | readonly Content[];

/** A template of HTML. Parts are called as functions, so that the compiler checks what they are given: `${chip('ok', 'Paid')}`. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode = (strings, ...values) => {
  const made = template(strings, ...values);
  if (Array.isArray(made)) throw new TypeError('a template has one root: wrap its parts in one');
  return made;
};

/**
 * What no text of a page may hold: control characters; marks that turn the direction of what follows, with which an address or an
 * amount can be made to read as another; characters that are not seen. Joiners stay: scripts and emoji need them.
 */
const harmful =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A whole document. Templates hold none of the harmful characters, so what is replaced came with somebody's text. */
export const documentOf = (root: VNode): string =>
  `<!doctype html>${render(root).toWellFormed().replace(harmful, '\ufffd')}`;

/** Somebody's own words: their direction stays their own. */
export const bdi = (text: string): VNode => html`<bdi>${text}</bdi>`;

/** The text, cut when it is longer than `max` characters. */
export const cut = (text: string, max: number): string => {
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text;
};
