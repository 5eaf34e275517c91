/**
 * One product for programs: the recipe of the house blend, sold by x402 at the shop's own address. The shop keeps nothing: an order of the
 * program is one payment, and the payment's endpoint of the service answers for it. The id of a paid order opens the recipe for anyone.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createPayment } from './service.ts';
import type { ShopSettings } from './settings.ts';

export const recipePath = '/recipe';
export const recipePrice = '0.50';

/** Chains whose USDC takes authorizations, the usual one of stock clients first. */
const chainIds: readonly string[] = ['8453', '1', '42161', '137'];
const orderPattern = /^[A-Za-z0-9_-]{16,64}$/;
/** Orders of programs in the life of one process. */
const ordersMax = 1_000;
/** Longer than the service waits for a payer's money. */
const patience_ms = 60_000;

const fromProgram = ['payment-signature', 'x-payment', 'authorization'] as const;
const toProgram = [
  'payment-required',
  'payment-response',
  'x-payment-response',
  'www-authenticate',
  'payment-receipt',
  'retry-after',
] as const;

const recipe = {
  name: 'House blend',
  steps: ['Two parts of oolong, one of sencha.', '80 °C, two minutes.', 'Pour it high, and share it.'],
};

export interface RecipeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

const problem = (status: number, title: string): RecipeAnswer => ({ status, headers: {}, body: { title } });

export function createRecipeSale(settings: () => ShopSettings | null) {
  const orders = new Set<string>();

  /** @param order id of the program's purchase: the same id is the same payment, so a program that retries never buys twice */
  return async (order: string, headers: IncomingHttpHeaders): Promise<RecipeAnswer> => {
    const known = settings();
    const chainId = chainIds.find((each) => known?.chains.some(({ id }) => id === each));
    if (!known || chainId === undefined) return problem(503, 'The recipe is not for sale yet');
    if (!orderPattern.test(order)) return problem(400, 'Send ?order= with 16 to 64 letters, digits, - and _');
    if (!orders.has(order) && orders.size >= ordersMax) return problem(429, 'Too many orders: start the shop again');
    orders.add(order);
    const terms = { orderId: `X-${order}`, goods: 'Recipe of the house blend', price: recipePrice, chainId };
    const { paymentLink } = await createPayment(known, terms);
    const sent = fromProgram.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []));
    const answer = await fetch(`${known.serviceUrl}${new URL(paymentLink).pathname}/x402`, {
      headers: Object.fromEntries(sent),
      signal: AbortSignal.timeout(patience_ms),
    });
    const told = toProgram.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const body = (await answer.json()) as object;
    return {
      status: answer.status,
      headers: Object.fromEntries(told),
      body: answer.status === 200 ? { ...recipe, payment: body } : body,
    };
  };
}
