/** Chooses pages for the gate that together have every kind of element. */
import type { VNode } from 'preact';
import { documentOf } from '../../web/parts/html.ts';

/** Elements without an end tag. */
const empty = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const tags = /<(\/?)([a-z][\w-]*)((?:"[^"]*"|[^">])*)>/gi;
const attributes = /\s([\w:-]+)(?:="([^"]*)")?/g;
/** Attributes whose value decides how an element looks or which role it has; of the others the name counts. */
const isValueKept = (name: string): boolean => /^(class|role|type|aria-(current|live|hidden))$/.test(name);

function kindOf(tag: string, text: string): string {
  const named = [...text.matchAll(attributes)].map(([, name = '', value = '']) =>
    isValueKept(name) ? `${name}=${value}` : name,
  );
  return `${tag}[${named.toSorted().join()}]`;
}

/** Returns each element of a document with its parent, and each heading level with the level before it. */
function kindsIn(document: string): ReadonlySet<string> {
  const kinds = new Set<string>();
  const parents: string[] = [];
  let heading = '';
  for (const [, end, tag = '', text = ''] of document.matchAll(tags)) {
    if (end) {
      parents.pop();
      continue;
    }
    const kind = kindOf(tag, text);
    kinds.add(`${parents.at(-1)} > ${kind}`);
    if (/^h\d$/.test(tag)) {
      kinds.add(`${heading}, ${tag}`);
      heading = tag;
    }
    if (!empty.test(tag) && !text.endsWith('/')) parents.push(kind);
  }
  return kinds;
}

/** Returns names of pages, the first with the most kinds of element and each later one with the most new kinds. */
export function coveringPages(pages: Readonly<Record<string, VNode>>): readonly string[] {
  const left = new Map(Object.entries(pages).map(([name, page]) => [name, kindsIn(documentOf(page))]));
  const chosen: string[] = [];
  const known = new Set<string>();
  for (;;) {
    let best: string | undefined;
    let most = 0;
    for (const [name, { size }] of left) if (size > most) [best, most] = [name, size];
    if (best === undefined) return chosen;
    for (const kind of left.get(best) ?? []) known.add(kind);
    chosen.push(best);
    for (const [name, kinds] of left) left.set(name, new Set([...kinds].filter((kind) => !known.has(kind))));
  }
}
