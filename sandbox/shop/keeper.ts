/** The shopkeeper: creates payments for orders, reads their results, writes receipts. Each step can be interrupted and resumed. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/process/system.ts';
import type { OpenBook } from './book.ts';
import { findGoods } from './goods.ts';
import { isNews, isOver, isPaid, type Learning, type News, type Order, type Receipt } from './orders.ts';
import { createPayment, type Payment, readFeed, readPayment } from './service.ts';
import type { ShopSettings } from './settings.ts';

/** Interval of checks for unfinished steps. */
const round_ms = 1_000;
/** A webhook is sent once: a missing result is queried, after a while. */
const askEvery_ms = 5 * 60_000;
const ordersMax = 1_000;

export interface Keeper {
  /** The order's id; null for unknown goods, or a full book. */
  place(goodsId: string, chainId: string): Promise<string | null>;
  /** A webhook with a valid signature. */
  tell(payment: Payment): void;
  learnBy(learning: Learning): void;
  /** Runs until the signal aborts. */
  run(stop: AbortSignal): Promise<void>;
}

export function createKeeper(book: OpenBook, settings: () => ShopSettings | null): Keeper {
  const orders = (): readonly Order[] => [...book.now().orders.values()];
  /** Ends a wait for the feed when the shop leaves the feed's mode. */
  let reading = new AbortController();
  let asked_ms = -askEvery_ms;
  /** Orders to query until the service has answered. */
  const toAsk = new Set<string>();

  /** A crash between the two lines leaves an order without a payment: the repeated request with its order id returns the same payment. */
  async function makePayment(known: ShopSettings, order: Order): Promise<void> {
    const { id, paymentLink, source } = await createPayment(known, order);
    const page = new URL(paymentLink).pathname;
    const { orderId } = order;
    if (book.now().orders.get(orderId)?.payment) return;
    book.write({ type: 'PaymentMade', orderId, paymentId: id, page, amount: source.amount ?? '', at: now() });
  }

  /** Null for a foreign order, a payment without our key, and a known result. */
  function newsOf(
    {
      id,
      orderId,
      status,
      keyless = false,
    }: Pick<Payment, 'id' | 'orderId' | 'status'> & { readonly keyless?: boolean },
    by: News['by'],
  ): News | null {
    const order = book.now().orders.get(orderId ?? '');
    if (!order || keyless || order.payment?.paymentId !== id || !isNews(order, status)) return null;
    return { orderId: order.orderId, by, status, at: now() };
  }

  async function ask(known: ShopSettings, order: Order): Promise<void> {
    if (!order.payment) return;
    const payment = await readPayment(known, order.payment.paymentId);
    const news = newsOf(payment, 'asked');
    if (news) book.write({ type: 'NewsCame', news });
    toAsk.delete(order.orderId);
  }

  async function writeReceipt(known: ShopSettings, { orderId, payment }: Order): Promise<void> {
    const receipt = payment && receiptOf(await readPayment(known, payment.paymentId));
    if (receipt) book.write({ type: 'ReceiptWritten', orderId, receipt });
  }

  /** A failure of one order does not affect another. */
  async function round(known: ShopSettings): Promise<void> {
    if (book.now().learning === 'webhook' && performance.now() - asked_ms > askEvery_ms) {
      asked_ms = performance.now();
      for (const order of orders()) if (!isOver(order)) toAsk.add(order.orderId);
    }
    for (const order of orders()) {
      const due = !order.payment
        ? makePayment(known, order)
        : isPaid(order) && !order.receipt
          ? writeReceipt(known, order)
          : toAsk.has(order.orderId)
            ? ask(known, order)
            : undefined;
      await due?.catch(complain);
    }
  }

  async function readOn(known: ShopSettings): Promise<void> {
    const { data, nextCursor } = await readFeed(known, book.now().after, reading.signal);
    if (data.length === 0) return;
    const newest = new Map<string, News>();
    for (const { paymentId, orderId, status } of data) {
      const news = newsOf({ id: paymentId, orderId, status }, 'feed');
      if (news) newest.set(`${news.orderId} ${status}`, news);
    }
    book.write({ type: 'FeedRead', after: nextCursor, news: [...newest.values()] });
  }

  async function follow(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const known = settings();
      if (known && book.now().learning === 'feed') await readOn(known).catch(() => sleep(round_ms));
      else await sleep(round_ms / 4);
    }
  }

  return {
    async place(goodsId, chainId) {
      const goods = findGoods(goodsId);
      const known = settings();
      if (!goods || !known?.chains.some(({ id }) => id === chainId) || book.now().orders.size >= ordersMax) return null;
      const orderId = `T-${randomBytes(4).toString('hex')}`;
      const placed = {
        type: 'OrderPlaced',
        orderId,
        goods: goods.name,
        price: goods.price,
        chainId,
        at: now(),
      } as const;
      if (!book.write(placed)) return null;
      const order = book.now().orders.get(orderId);
      // A failure is retried in the next round.
      if (order) await makePayment(known, order).catch(complain);
      return orderId;
    },

    tell(payment) {
      const news = newsOf(payment, 'webhook');
      if (news) book.write({ type: 'NewsCame', news });
    },

    learnBy(learning) {
      if (learning === book.now().learning) return;
      book.write({ type: 'LearningSet', learning });
      reading.abort();
      reading = new AbortController();
    },

    async run(stop) {
      stop.addEventListener('abort', () => reading.abort());
      const following = follow(stop);
      while (!stop.aborted) {
        const known = settings();
        if (known) await round(known);
        await sleep(round_ms, undefined, { signal: stop }).catch(() => {});
      }
      await following;
    },
  };
}

const { now } = systemClock;

/** Logs the error; the step is retried. */
const complain = (error: Error): void => console.error(`shop: ${error.message}`);

/** Null if the payment's read is older than its news. */
function receiptOf({ source, destination }: Payment): Receipt | null {
  const amount = source.amountReceived ?? source.amount;
  if (!source.txHash || !destination.txHash || amount === null || destination.amount === null) return null;
  const { chainId, tokenSymbol, txHash, fee } = source;
  return {
    paid: { amount, tokenSymbol, chainId, txHash },
    got: {
      amount: destination.amount,
      tokenSymbol: destination.tokenSymbol,
      chainId: destination.chainId,
      txHash: destination.txHash,
    },
    fee,
  };
}
