/**
 * Persistent customers: they repeat a request that a dead service or a hung chain interrupted, pay by their habits, and poll each payment
 * until its end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { chainOf, findToken, type Token } from '../../domain/chains.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import { inParallel, serializeByKey } from '../../src/lib/concurrency.ts';
import { fundAccount } from '../stellar/controls.ts';
import type { Order } from './orders.ts';
import { messageOf, type Payment, retry, type TrialWorld } from './world.ts';

export interface Placed {
  readonly order: Order;
  /** The acknowledged payment. */
  readonly payment: Payment;
  paid: boolean;
}

export interface Ended extends Placed {
  /** The last known state. */
  readonly end: Payment;
}

/** Answers to requests since the previous reading. */
export interface Interruptions {
  /** Number of repeated requests, by their failed answer. */
  readonly repeated: ReadonlyMap<string, number>;
  /** Longest time until a repeated request succeeded. */
  readonly longestWait_ms: number;
}

export interface Arrivals {
  readonly count: number;
  readonly every_ms: number;
  readonly until: AbortSignal;
  readonly onServed?: () => void;
}

export interface CustomersOptions {
  readonly signal: AbortSignal;
  /** Tries of a payer whose wallet shows an error: the payer may have paid twice, and then the excess is held. */
  readonly payTries: number;
}

const triesMax = 600;
const pause_ms = 500;
const call_ms = 15_000;
const pay_ms = 60_000;
const poll_ms = 1_000;
/** Concurrent requests of a poll. */
const readersMax = 8;

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(world: TrialWorld, { signal, payTries }: CustomersOptions) {
  const inLine = serializeByKey();
  const placed: Placed[] = [];
  const failures: string[] = [];
  let interruptions = { repeated: new Map<string, number>(), longestWait_ms: 0 };

  async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${world.url}/payment-api/payments${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': world.apiKey },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(call_ms),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  }

  /** Repeats a request until it succeeds. @throws Error for an answer that repetition does not change */
  async function request(method: string, path: string, body?: object): Promise<Payment> {
    const since_ms = performance.now();
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(method, path, body).catch((error: Error) => ({ status: 0, body: error.message }));
      if (answer.status === 200 || answer.status === 201) {
        if (tries > 1)
          interruptions.longestWait_ms = Math.max(interruptions.longestWait_ms, performance.now() - since_ms);
        return answer.body as Payment;
      }
      const mayPass = answer.status === 0 || answer.status === 429 || answer.status >= 500;
      if (!mayPass || tries >= triesMax)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      const reason = reasonOf(answer);
      interruptions.repeated.set(reason, (interruptions.repeated.get(reason) ?? 0) + 1);
      signal.throwIfAborted();
      await sleep(pause_ms);
    }
  }

  const read = (paymentId: string): Promise<Payment> => request('GET', `/${paymentId}`);

  /** Repeats an order until it is answered with its payment. @throws Error if it is refused */
  async function create(order: Order): Promise<Placed> {
    const { orderId, from, to, receiver, amount } = order;
    if (to === 1500) await retry(() => fundAccount(world.rpcUrl(to), receiver, { usdc: 0n }), triesMax);
    const payment = await request('POST', '', {
      orderId,
      type: 'exactOut',
      display: { title: 'Trial', currency: 'USD' },
      source: { chainId: from, tokenSymbol: 'USDC' },
      destination: { chainId: to, tokenSymbol: 'USDC', receiverAddress: receiver, amount },
    });
    return { order, payment, paid: false };
  }

  /** Pays according to the order's habit; a late payer pays when this is called. */
  async function pay(own: Placed): Promise<void> {
    const { order, payment } = own;
    const usdc = tokenOf(order.from, 'USDC');
    const due = unitsOf(payment.source.amount ?? '', usdc);
    for (const [amount, token = usdc] of transfersOf(order, due, usdc)) await send(own, token, amount);
    own.paid = true;
  }

  function send({ order, payment }: Placed, token: Token, amount: bigint): Promise<void> {
    const payers = world.payers(order.from);
    const payer = payers[order.number % payers.length];
    if (!payer) throw new Error(`chain ${order.from} has no payer`);
    return inLine(`${order.from} ${payer.address}`, async () => {
      await retry(() => within(payer.pay(payment, token, amount)), payTries);
    });
  }

  /** Creates an order, and pays it unless its habit is to pay late. Failures are recorded. */
  async function serve(order: Order): Promise<void> {
    try {
      const own = await create(order);
      placed.push(own);
      if (order.habit !== 'late') await pay(own);
    } catch (error) {
      failures.push(`${order.orderId}: ${messageOf(error)}`);
    }
  }

  /** Serves an order every `every_ms`, until all have arrived or the signal aborts. Returns when each of them is served. */
  async function arrive(orderAt: (number: number) => Order, { count, every_ms, until, onServed }: Arrivals) {
    const serving: Promise<void>[] = [];
    for (let number = 1; number <= count && !until.aborted; number += 1) {
      serving.push(serve(orderAt(number)).then(onServed));
      await sleep(every_ms, undefined, { signal: until }).catch(() => {});
    }
    await Promise.all(serving);
  }

  /** Polls payments until this holds for each. At the timeout it returns the others in their present state. */
  async function poll(
    some: readonly Placed[],
    isOver: (end: Payment, order: Order) => boolean,
    most_ms: number,
  ): Promise<readonly Ended[]> {
    const ends = new Map<Placed, Payment>();
    let open = some;
    for (const until_ms = performance.now() + most_ms; ; await sleep(poll_ms)) {
      signal.throwIfAborted();
      await inParallel(open, readersMax, async (each) => ends.set(each, await read(each.payment.id)));
      open = open.filter((each) => !isOver(ends.get(each) as Payment, each.order));
      if (open.length === 0 || performance.now() > until_ms)
        return some.map((each) => ({ ...each, end: ends.get(each) as Payment }));
    }
  }

  return {
    /** Every order that was acknowledged. */
    placed: placed as readonly Placed[],
    /** A sentence for each order that could not be placed or paid. */
    failures: failures as readonly string[],
    ...{ create, read, arrive, poll },
    untilEnded: (some: readonly Placed[], most_ms: number) => poll(some, hasEnded, most_ms),
    /** Pays the orders of late payers, after the payments' time. */
    async payLate(): Promise<void> {
      const late = placed.filter(({ order }) => order.habit === 'late');
      await Promise.all(
        late.map((each) =>
          pay(each).catch((error: unknown) => failures.push(`${each.order.orderId}: ${messageOf(error)}`)),
        ),
      );
    },
    takeInterruptions(): Interruptions {
      const since = interruptions;
      interruptions = { repeated: new Map(), longestWait_ms: 0 };
      return since;
    },
  };
}

/** A late payment stays expired until its money is detected. */
const hasEnded = ({ status }: Payment, { habit }: Order): boolean =>
  terminalStatuses.includes(status) && !(habit === 'late' && status === 'payment_expired');

/** Amounts that a payer sends, and their token if it is not the requested one. */
function transfersOf({ from, habit }: Order, due: bigint, usdc: Token): readonly (readonly [bigint, Token?])[] {
  switch (habit) {
    case 'inParts':
      return [[due / 3n], [due - due / 3n]];
    case 'over':
      return [[due + unitsOf('0.75', usdc)]];
    case 'under':
      return [[due - unitsOf('0.60', usdc)]];
    case 'otherToken': {
      const other = chainOf(from).tokens.find(({ symbol }) => symbol !== 'USDC') ?? usdc;
      return [[unitsOf(formatAmount(due, usdc.decimals), other), other]];
    }
    case 'exact':
    case 'late':
      return [[due]];
    case 'never':
      return [];
  }
}

export function tokenOf(chainId: Order['from'], symbol: 'USDC' | 'USDT'): Token {
  const token = findToken(chainOf(chainId), symbol);
  if (!token) throw new Error(`chain ${chainId} has no ${symbol}`);
  return token;
}

export function unitsOf(amount: string, { decimals }: Pick<Token, 'decimals'>): bigint {
  const units = parseAmount(amount, decimals);
  if (typeof units === 'string') throw new Error(`${amount} is not an amount: ${units}`);
  return units;
}

/** Code of a failed answer, or the reason of a missing one. */
function reasonOf({ status, body }: { readonly status: number; readonly body: unknown }): string {
  const { error, code } = Object(body) as { error?: unknown; code?: unknown };
  return status === 0 ? String(body) : `${status} ${String(code ?? error ?? '')}`.trim();
}

async function within<T>(work: Promise<T>): Promise<T> {
  const late = sleep(pay_ms, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${pay_ms / 1_000} s`);
  });
  return Promise.race([work, late]);
}
