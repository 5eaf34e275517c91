/** Line items: the purchase of a payment as its merchant lists it. They are texts for people; their sum is the order's amount. */
import Type, { type Static } from 'typebox';
import type { Token } from '../chains.ts';
import { formatAmount, parseAmount } from '../money.ts';
import { closed, Text } from '../schema.ts';

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
