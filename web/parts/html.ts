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

/** A whole document. */
export const documentOf = (root: VNode): string => `<!doctype html>${render(root)}`;
