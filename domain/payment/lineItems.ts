/**
 * Line items: the purchase of a payment as its merchant lists it. They are texts for people; their sum is the order's amount. And the app's
 * metadata of a payment.
 */
import Type, { type Static } from 'typebox';
import type { Token } from '../chains.ts';
import { formatAmount, parseAmount } from '../money.ts';
import { closed, type Json, Text } from '../schema.ts';

export const lineItemsMax = 50;
export const lineNameMax = 200;
export const lineQuantityMax = 1_000_000;
/** As compact JSON in UTF-8. A stranger gets less to fill the store with. */
export const lineItemsMax_bytes = { keyed: 16_384, keyless: 2_048 } as const;

export const LineItem = Type.Object(
  {
    name: Text(lineNameMax),
    quantity: Type.Integer({ minimum: 1, maximum: lineQuantityMax }),
    /** Amount of the whole line, as a decimal text like `12.00`. */
    amount: Type.String({ pattern: '^(0|[1-9][0-9]{0,59})\\.[0-9]{2,18}$' }),
  },
  closed,
);
export type LineItem = Static<typeof LineItem>;

/** The order's amount, in units of its token; null where the payer chooses the amount. */
export interface OrderAmount {
  readonly amount: bigint | null;
  readonly token: Pick<Token, 'decimals' | 'symbol'>;
}

export interface LineItemsProblem {
  /** JSON pointer within the list. */
  readonly path: string;
  readonly message: string;
}

/** Returns the items with amounts as the service writes them, or why the order cannot have them. */
export function readLineItems(
  items: readonly LineItem[],
  { amount, token }: OrderAmount,
  max_bytes: number,
): readonly LineItem[] | LineItemsProblem {
  if (amount === null)
    return { path: '', message: 'lineItems need an order with an amount: omit them, or state an amount' };
  const read: LineItem[] = [];
  let sum = 0n;
  for (const [index, item] of items.entries()) {
    const units = parseAmount(item.amount, token.decimals);
    if (typeof units !== 'bigint')
      return {
        path: `/${index}/amount`,
        message: `the amount must be a decimal text with at most ${token.decimals} decimals`,
      };
    if (item.name.trim() === '') return { path: `/${index}/name`, message: 'the name must have visible characters' };
    sum += units;
    read.push({ name: item.name, quantity: item.quantity, amount: formatAmount(units, token.decimals) });
  }
  if (sum !== amount) {
    const [made, due] = [sum, amount].map((each) => formatAmount(each, token.decimals));
    return {
      path: '',
      message: `the amounts of lineItems make ${made}, the order's amount is ${due}: make both equal`,
    };
  }
  const length_bytes = new TextEncoder().encode(JSON.stringify(read)).length;
  if (length_bytes <= max_bytes) return read;
  return { path: '', message: `lineItems have ${length_bytes} bytes as JSON: at most ${max_bytes} are kept` };
}

// Metadata that an app stores with its payment: any JSON object, bounded so that every store and answer can hold it.

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
