/** Metadata that an app stores with its payment: any JSON object, bounded so that every store and answer can hold it. */

import type { Json } from '../schema.ts';

export type Metadata = { readonly [name: string]: Json };

/** Maximum as compact JSON in UTF-8. Requests without a key get less, so strangers cannot fill the store. */
export const metadataMax_bytes = { keyed: 4_096, keyless: 1_024 } as const;
/** Maximum nesting of objects and lists; the metadata itself is level 1. */
export const metadataLevels = 5;

/** Names that can change an object's prototype when a program copies it. */
const dangerous: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export interface MetadataProblem {
  /** JSON pointer within the metadata. */
  readonly path: string;
  readonly message: string;
}

/** Returns why the object cannot be stored, and what to do; undefined if it can. Reads at most five levels. */
export function metadataProblem(metadata: Metadata, max_bytes: number): MetadataProblem | undefined {
  const inside = problemIn(metadata, '', 1);
  if (inside) return inside;
  const length_bytes = new TextEncoder().encode(JSON.stringify(metadata)).length;
  if (length_bytes <= max_bytes) return undefined;
  return { path: '', message: `has ${length_bytes} bytes as JSON: at most ${max_bytes} are kept` };
}

function problemIn(value: Json, path: string, level: number): MetadataProblem | undefined {
  if (typeof value === 'string') return storable(value) ? undefined : { path, message: unstorable };
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return { path, message: 'is a number that is too large: send it as text' };
  }
  // JSON.parse has rounded it by now: 9007199254740993 reads as 9007199254740992.
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path, message: `is an integer beyond ${Number.MAX_SAFE_INTEGER}, which loses digits: send it as text` };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (level > metadataLevels) return { path, message: `is deeper than ${metadataLevels} levels: flatten it` };
  for (const [name, inner] of Object.entries(value)) {
    const within = `${path}/${name.slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (dangerous.has(name)) return { path: within, message: 'has a name that is not allowed: choose another' };
    if (!storable(name)) return { path, message: `has a name that ${unstorable}` };
    const problem = problemIn(inner, within, level + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** Databases store neither lone surrogates nor U+0000. */
const storable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
const unstorable = 'holds a NUL or half a surrogate pair: leave it out';
