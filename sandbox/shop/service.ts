/** The payment service as the shop calls it, by its public API alone. */
import type { PaymentStatus } from '../../domain/payment/view.ts';
import type { Order } from './orders.ts';
import type { ShopSettings } from './settings.ts';

export interface Payment {
  readonly id: string;
  readonly orderId: string | null;
  readonly keyless: boolean;
  readonly status: PaymentStatus;
  readonly paymentLink: string;
  readonly source: Side & { readonly fee: string | null; readonly amountReceived: string | null };
  readonly destination: Side;
}

interface Side {
  readonly chainId: string;
  readonly tokenSymbol: string;
  readonly amount: string | null;
  readonly txHash: string | null;
}

export interface FeedPage {
  readonly data: readonly {
    readonly paymentId: string;
    readonly orderId: string | null;
    readonly status: PaymentStatus;
    readonly at: string;
  }[];
  readonly nextCursor: string;
}

/** Longer than the feed's maximum wait. */
const patience_ms = 45_000;
const wait_s = 20;

type Ordered = Pick<Order, 'orderId' | 'goods' | 'price' | 'chainId'>;

/** A repeated call makes no second payment, because the order's id is the same. @throws Error if the service does not return a payment */
export const createPayment = (settings: ShopSettings, { orderId, goods, price, chainId }: Ordered): Promise<Payment> =>
  ask<Payment>(settings, settings.ordersKey, '/payment-api/payments', {
    appId: settings.appId,
    orderId,
    type: 'exactOut',
    display: { title: goods, currency: 'USD' },
    source: { chainId, tokenSymbol: 'USDC' },
    destination: { amount: price },
  });

/** @throws Error */
export const readPayment = (settings: ShopSettings, paymentId: string): Promise<Payment> =>
  ask<Payment>(settings, settings.ordersKey, `/payment-api/payments/${paymentId}`);

/** Waits while there are no new events. @throws Error */
export const readFeed = (settings: ShopSettings, after: string, gone: AbortSignal): Promise<FeedPage> =>
  ask<FeedPage>(settings, settings.adminKey, `/payment-api/events?wait=${wait_s}&after=${after}`, undefined, gone);

async function ask<T>(
  { serviceUrl }: ShopSettings,
  key: string,
  path: string,
  body?: object,
  gone?: AbortSignal,
): Promise<T> {
  const signals = [AbortSignal.timeout(patience_ms), ...(gone ? [gone] : [])];
  const response = await fetch(`${serviceUrl}${path}`, {
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    signal: AbortSignal.any(signals),
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (response.ok) return (await response.json()) as T;
  throw new Error(`${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
}
