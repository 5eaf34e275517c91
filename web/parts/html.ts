import { html as template } from 'htm/preact';
import type { VNode } from 'preact';
import { render } from 'preact-render-to-string';

/** Content of a template. Texts are escaped. */
export type Content = VNode | string | number | null | undefined | false | readonly Content[];

/** An HTML template. Components are called as functions, so the compiler checks their arguments: `${chip('ok', 'Paid')}`. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode = (strings, ...values) => {
  const made = template(strings, ...values);
  if (Array.isArray(made)) throw new TypeError('a template has one root: wrap its parts in one');
  return made;
};

/**
 * Characters that no text of a page may contain: control characters; direction marks, which can make an address or an amount read as
 * another; invisible characters. Joiners stay: scripts and emoji need them.
 */
const harmful =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A complete document. Templates contain none of the harmful characters, so every replaced one is from foreign text. */
export const documentOf = (root: VNode): string =>
  `<!doctype html>${render(root).toWellFormed().replace(harmful, '\ufffd')}`;

/** Foreign text keeps its own direction. */
export const bdi = (text: string): VNode => html`<bdi>${text}</bdi>`;

/** The text, shortened to `max` characters. */
export const cut = (text: string, max: number): string => {
  const characters = Array.from(text.slice(0, 2 * max + 2));
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : text;
};
