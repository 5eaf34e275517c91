/** The demo shop's orders: a fold over the lines of its book. It uses the service's reports, never a browser's. */

import type { PaymentStatus } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';

/** Source of the shop's knowledge: a webhook, the feed, or a query for a missing webhook. */
export type Source = 'webhook' | 'feed' | 'asked';
/** Mode: webhooks with queries for missing ones; or only the feed. */
export type Learning = 'webhook' | 'feed';

export interface News {
  readonly orderId: string;
  readonly by: Source;
  readonly status: PaymentStatus;
  readonly at: Instant;
}

/** One transaction of the two. */
export interface Transfer {
  readonly amount: string;
  readonly tokenSymbol: string;
  readonly chainId: string;
  readonly txHash: string;
}

export interface Receipt {
  readonly paid: Transfer;
  readonly got: Transfer;
  readonly fee: string | null;
}

export type Entry =
  | {
      readonly type: 'OrderPlaced';
      readonly orderId: string;
      readonly goods: string;
      readonly price: string;
      readonly chainId: string;
      readonly at: Instant;
    }
  | {
      readonly type: 'PaymentMade';
      readonly orderId: string;
      readonly paymentId: string;
      /** Path of the payment's page: the service may be at another port after its next start. */
      readonly page: string;
      readonly amount: string;
      readonly at: Instant;
    }
  | { readonly type: 'NewsCame'; readonly news: News }
  /** A page of the feed with its cursor, in one line: neither is there without the other. */
  | { readonly type: 'FeedRead'; readonly after: string; readonly news: readonly News[] }
  | { readonly type: 'ReceiptWritten'; readonly orderId: string; readonly receipt: Receipt }
  | { readonly type: 'LearningSet'; readonly learning: Learning };

export interface Order {
  readonly orderId: string;
  readonly goods: string;
  readonly price: string;
  readonly chainId: string;
  readonly placedAt: Instant;
  readonly payment: {
    readonly paymentId: string;
    readonly page: string;
    readonly amount: string;
    readonly at: Instant;
  } | null;
  readonly status: PaymentStatus;
  /** News that advanced the order. */
  readonly news: readonly News[];
  readonly receipt: Receipt | null;
}

export interface Book {
  readonly orders: ReadonlyMap<string, Order>;
  readonly learning: Learning;
  /** Cursor of the feed. */
  readonly after: string;
}

export const emptyBook: Book = { orders: new Map(), learning: 'webhook', after: '0' };

export function evolve(book: Book, entry: Entry): Book {
  switch (entry.type) {
    case 'OrderPlaced': {
      const { type: _, at, ...placed } = entry;
      const order: Order = {
        ...placed,
        placedAt: at,
        payment: null,
        status: 'payment_unpaid',
        news: [],
        receipt: null,
      };
      return { ...book, orders: new Map(book.orders).set(order.orderId, order) };
    }
    case 'PaymentMade': {
      const { type: _, orderId, ...payment } = entry;
      return changed(book, orderId, () => ({ payment }));
    }
    case 'NewsCame':
      return told(book, entry.news);
    case 'FeedRead':
      return { ...entry.news.reduce(told, book), after: entry.after };
    case 'ReceiptWritten':
      return changed(book, entry.orderId, () => ({ receipt: entry.receipt }));
    case 'LearningSet':
      return { ...book, learning: entry.learning };
  }
}

const told = (book: Book, news: News): Book =>
  changed(book, news.orderId, (order) =>
    isNews(order, news.status) ? { status: news.status, news: [...order.news, news] } : {},
  );

function changed(book: Book, orderId: string, change: (order: Order) => Partial<Order>): Book {
  const order = book.orders.get(orderId);
  return order ? { ...book, orders: new Map(book.orders).set(orderId, { ...order, ...change(order) }) } : book;
}

const way: readonly PaymentStatus[] = [
  'payment_unpaid',
  'payment_started',
  'payment_payin_completed',
  'payment_bridging',
  'payment_payout_started',
  'payment_expired',
  'payment_bounced',
  'payment_refunded',
  'payment_completed',
  'payment_payout_completed',
];

/** True if the status advances the order: repeated and outdated ones change nothing. */
export const isNews = ({ status }: Order, next: PaymentStatus): boolean => way.indexOf(next) > way.indexOf(status);

/** The two statuses that mean: hand it over (docs/integrate/orders.md). */
export const isPaid = ({ status }: Order): boolean =>
  status === 'payment_payout_completed' || status === 'payment_completed';

export const isOver = (order: Order): boolean =>
  isPaid(order) || ['payment_expired', 'payment_bounced', 'payment_refunded'].includes(order.status);
