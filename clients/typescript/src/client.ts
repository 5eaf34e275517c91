import { PaymentsError } from './errors.ts';
import { type EventPageOptions, type EventsOptions, eventPage, events } from './feed.ts';
import { type Call, request, sleep, type Transport } from './request.ts';
import {
  type EventPage,
  endStatuses,
  type FeedEvent,
  type ListFilters,
  type NewPayment,
  type Payment,
  type PaymentPage,
  type PaymentStatus,
} from './types.ts';

export interface ClientOptions {
  /** URL of the service, such as https://payments.example; a path in it is kept. */
  readonly baseUrl: string;
  /** Omit it in browsers: a key is a secret of the shop's server. */
  readonly apiKey?: string;
  readonly fetch?: typeof fetch;
  /** Times that a call is sent at most; 5 unless given. */
  readonly attemptsMax?: number;
  /** For one answer; 30 s unless given. */
  readonly timeout_ms?: number;
  /** Waits; for tests. */
  readonly sleep?: Transport['sleep'];
  /** From 0 to 1; for tests. */
  readonly random?: () => number;
}

export interface Signalled {
  readonly signal?: AbortSignal;
}

export interface WaitOptions extends Signalled {
  /** Additional status that ends the wait; terminal ones always do. */
  readonly until?: PaymentStatus | readonly PaymentStatus[];
  /** In all; an hour and a half unless given, for a payment may live for an hour. */
  readonly timeout_ms?: number;
  /** Poll interval. Default: 2 s. */
  readonly interval_ms?: number;
}

/** Each call throws PaymentsError, or its signal's reason. */
export interface Client {
  /**
   * Creates a payment, once, however often the request is sent: by its `orderId`, or a random one by default. Returns the existing payment
   * of an order.
   */
  create(payment: NewPayment, options?: Signalled): Promise<Payment>;
  get(id: string, options?: Signalled): Promise<Payment>;
  byOrder(appId: string, orderId: string, options?: Signalled): Promise<Payment>;
  /** Newest first, page after page on demand. Needs a key of scope admin. */
  list(filters?: ListFilters, options?: Signalled): AsyncGenerator<Payment, void, void>;
  /** Events of the app's payments, in order and without gaps. Needs a key of scope admin. */
  events(options: EventsOptions): AsyncGenerator<FeedEvent, void, void>;
  eventPage(options?: EventPageOptions): Promise<EventPage>;
  /** Polls until the payment has ended, or reached a requested status: read it in the result. @throws `timeout` */
  waitFor(id: string, options?: WaitOptions): Promise<Payment>;
}

/** @throws TypeError when baseUrl is none */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options);
  const ask = <T>(call: Call): Promise<T> => request<T>(transport, call);
  const get = (id: string, { signal }: Signalled = {}) =>
    ask<Payment>({ path: `/payment-api/payments/${encodeURIComponent(id)}`, signal });

  return {
    get,
    create: (payment, { signal } = {}) =>
      ask({ path: '/payment-api/payments', body: { ...payment, orderId: payment.orderId ?? randomOrderId() }, signal }),
    byOrder: (appId, orderId, { signal } = {}) =>
      ask({ path: `/payment-api/payments/order/${[appId, orderId].map(encodeURIComponent).join('/')}`, signal }),
    list: (filters = {}, { signal } = {}) => list(transport, filters, signal),
    events: (given) => events(transport, given),
    eventPage: (given) => eventPage(transport, given),
    waitFor: (id, given = {}) => waitFor(transport, (signal) => get(id, signal ? { signal } : {}), given),
  };
}

function transportOf(options: ClientOptions): Transport {
  const { protocol, origin, pathname } = new URL(options.baseUrl);
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('baseUrl begins with https:// or http://');
  return {
    baseUrl: origin + pathname.replace(/\/+$/, ''),
    apiKey: options.apiKey,
    // Browsers want it called on the window.
    fetch: options.fetch ?? ((...args) => fetch(...args)),
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
    attemptsMax: options.attemptsMax ?? 5,
    timeout_ms: options.timeout_ms ?? 30_000,
  };
}

/** Pages that are not on https have no crypto.randomUUID. */
const randomOrderId = (): string =>
  `client-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

async function* list(
  transport: Transport,
  filters: ListFilters,
  signal: AbortSignal | undefined,
): AsyncGenerator<Payment, void, void> {
  let cursor: string | undefined;
  for (;;) {
    const page = await request<PaymentPage>(transport, {
      path: '/payment-api/payments',
      query: { ...filters, cursor },
      signal,
    });
    yield* page.data;
    if (page.nextCursor === null) return;
    if (page.nextCursor === cursor) throw new PaymentsError('unreadableAnswer', 'the list does not go on');
    cursor = page.nextCursor;
  }
}

/** Minimum of a requested interval. */
const pauseMin_ms = 100;

async function waitFor(
  transport: Transport,
  look: (signal: AbortSignal | undefined) => Promise<Payment>,
  { until = [], timeout_ms = 90 * 60_000, interval_ms = 2_000, signal }: WaitOptions,
): Promise<Payment> {
  const over = new Set<PaymentStatus>([endStatuses, until].flat());
  const pause_ms = Math.max(pauseMin_ms, interval_ms);
  // Counts the pauses: clock changes have no effect.
  for (let waited_ms = 0; ; waited_ms += pause_ms) {
    const payment = await look(signal);
    if (over.has(payment.status)) return payment;
    if (waited_ms >= timeout_ms) {
      throw new PaymentsError('timeout', `${payment.id} is still ${payment.status}: ask again later`);
    }
    await transport.sleep(pause_ms, signal);
  }
}
