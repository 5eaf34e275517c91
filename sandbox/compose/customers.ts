/** Persistent customers of one merchant: each order is repeated until it is answered, paid once, and polled until it is paid out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, getAddress, type Hex } from 'viem';
import type { ChainId } from '../../domain/chains.ts';
import { serializeByKey } from '../../src/lib/concurrency.ts';
import type { PublicPayment } from '../customer.ts';
import { payOnEvm } from '../payOnEvm.ts';
import { type Chains, chainIds } from './chains.ts';
import { balance, stockOf, sums, units, usdcOn } from './money.ts';
import type { Keys } from './settings.ts';

export interface Placed {
  readonly orderId: string;
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: string;
  /** An account that receives nothing else: its balance is this payment's payout. */
  readonly receiver: Address;
  /** The acknowledged payment. */
  readonly payment: Pick<PublicPayment, 'id' | 'source'>;
  paid: boolean;
}

export interface Acknowledged {
  readonly orderId: string;
  readonly id: string;
}

export interface Customers {
  /** Every order that was acknowledged so far. */
  readonly placed: readonly Placed[];
  /** Additional unpaid orders: as many as two callers can create. */
  readonly unpaid: readonly Acknowledged[];
  /** Number of repeated requests, by their failed answer. */
  readonly repeated: () => ReadonlyMap<string, number>;
  /** Longest time since the last call without the ability to pay. */
  longestWait_ms(): number;
  /** Stops new orders; started ones are placed and paid. */
  close(): Promise<void>;
  /** Waits until each is paid out. @throws Error naming late ones */
  untilPaidOut(placed: readonly Placed[], within_ms?: number): Promise<void>;
  /** @returns a sentence per problem */
  check(): Promise<readonly string[]>;
}

export interface CustomersOptions extends Keys {
  readonly url: string;
  readonly apiKey: string;
  readonly chains: Chains;
  readonly signal: AbortSignal;
}

const order_ms = 1_500;
const lookers = 2;
const look_ms = 100;
const call_ms = 10_000;
const again_ms = 500;
const triesMax = 600;
const paidOut_ms = 300_000;
const paidOut = ['payment_payout_completed', 'payment_completed'];

export async function openCustomers(options: CustomersOptions): Promise<Customers> {
  const { url, apiKey, chains, payers, signal } = options;
  const placed: Placed[] = [];
  const underWay = new Set<Promise<void>>();
  /** One account sends one transaction after the other. */
  const inLine = serializeByKey();
  const closing = new AbortController();
  const unpaid: Acknowledged[] = [];
  let [number, longest_ms] = [0, 0];
  let repeated = new Map<string, number>();
  let failure: unknown;
  const before = await stockOf(options, []);

  async function ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(call_ms),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    };
  }

  /** Repeats a request until it succeeds. @throws Error for an answer that repetition does not change */
  async function patiently(method: string, path: string, body?: object): Promise<unknown> {
    const since = performance.now();
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(method, path, body).catch((error: Error) => ({ status: 0, body: error.message }));
      if (answer.status === 200 || answer.status === 201) {
        if (tries > 1) longest_ms = Math.max(longest_ms, performance.now() - since);
        return answer.body;
      }
      const mayPass = answer.status === 0 || answer.status === 429 || answer.status >= 500;
      if (!mayPass || tries >= triesMax)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      const why = codeOf(answer);
      repeated.set(why, (repeated.get(why) ?? 0) + 1);
      signal.throwIfAborted();
      await sleep(again_ms);
    }
  }

  async function shop(): Promise<void> {
    number += 1;
    const [from, to] = number % 2 === 0 ? chainIds : ([chainIds[1], chainIds[0]] as const);
    const order = {
      orderId: `check-${number}`,
      from,
      to,
      amount: `${(number % 7) + 1}.${String(number % 100).padStart(2, '0')}`,
      receiver: getAddress(`0x${(0xc0de_0000_0000 + number).toString(16).padStart(40, '0')}`),
    };
    const payment = (await patiently('POST', '/payment-api/payments', bodyOf(order))) as PublicPayment;
    const mine: Placed = { ...order, payment, paid: false };
    placed.push(mine);
    const key = payers[number % payers.length] as Hex;
    const { source } = payment;
    const due = {
      token: usdcOn(from).address,
      receiverAddress: source.receiverAddress,
      amount: units(source.amount ?? '', from),
    };
    await inLine(`${key} ${from}`, () => payOnEvm(chains.localUrl(from), key, due));
    mine.paid = true;
  }

  async function keepComing(): Promise<void> {
    while (!closing.signal.aborted) {
      const one = shop().catch((error: unknown) => {
        failure ??= error;
      });
      underWay.add(one);
      void one.finally(() => underWay.delete(one));
      await sleep(order_ms, undefined, { signal: closing.signal }).catch(() => {});
    }
  }
  async function keepLooking(who: number): Promise<void> {
    for (let count = 1; !closing.signal.aborted; count += 1) {
      const orderId = `look-${who}-${count}`;
      const [from, to] = chainIds;
      const receiver = getAddress(`0x${(0xdead_0000_0000 + count).toString(16).padStart(40, '0')}`);
      const { id } = (await patiently(
        'POST',
        '/payment-api/payments',
        bodyOf({ orderId, from, to, amount: '9.00', receiver }),
      )) as Acknowledged;
      unpaid.push({ orderId, id });
      await sleep(look_ms);
    }
  }

  const coming = Promise.all([
    keepComing(),
    ...Array.from({ length: lookers }, (_, who) =>
      keepLooking(who).catch((error: unknown) => {
        failure ??= error;
      }),
    ),
  ]);

  const read = async ({ payment }: Placed): Promise<PublicPayment> =>
    (await patiently('GET', `/payment-api/payments/${payment.id}`)) as PublicPayment;

  return {
    placed,
    unpaid,
    repeated() {
      const since = repeated;
      repeated = new Map();
      return since;
    },
    longestWait_ms() {
      const longest = longest_ms;
      longest_ms = 0;
      return longest;
    },
    async close() {
      closing.abort();
      await coming;
      await Promise.all(underWay);
      if (failure) throw failure;
    },
    async untilPaidOut(some, within_ms = paidOut_ms) {
      let open = [...some];
      for (const since = performance.now(); performance.now() - since < within_ms; await sleep(again_ms)) {
        signal.throwIfAborted();
        if (failure) throw failure;
        const seen = await Promise.all(open.map(async (each) => [each, (await read(each)).status] as const));
        open = seen.filter(([, status]) => !paidOut.includes(status)).map(([each]) => each);
        if (open.length === 0) return;
      }
      const states = await Promise.all(open.map(async (each) => `${each.payment.id} ${(await read(each)).status}`));
      throw new Error(`not paid out after ${within_ms / 1_000} s: ${states.slice(0, 10).join(', ')}`);
    },
    async check() {
      const wrong: string[] = [];
      for (const each of placed) {
        const now = await read(each);
        if (
          now.source.receiverAddress !== each.payment.source.receiverAddress ||
          now.source.amount !== each.payment.source.amount
        )
          wrong.push(`${each.orderId} is another payment than the one that was acknowledged`);
        if (!paidOut.includes(now.status)) wrong.push(`${each.orderId} (${now.id}) is ${now.status}`);
        const [got, due] = [await balance(chains, each.to, each.receiver), units(each.amount, each.to)];
        if (got !== due) wrong.push(`${each.orderId} (${now.id}) brought ${got} of ${due} units`);
      }
      for (const { orderId, id } of unpaid) {
        const now = (await patiently('GET', `/payment-api/payments/${id}`)) as PublicPayment;
        if (now.id !== id || now.status !== 'payment_unpaid') wrong.push(`${orderId} (${id}) is ${now.status}`);
      }
      return [...wrong, ...sums(placed, before, await stockOf(options, placed))];
    },
  };
}

const bodyOf = ({
  orderId,
  from,
  to,
  amount,
  receiver,
}: Pick<Placed, 'orderId' | 'from' | 'to' | 'amount' | 'receiver'>) => ({
  orderId,
  type: 'exactOut',
  display: { title: 'Check', currency: 'USD' },
  source: { chainId: from, tokenSymbol: 'USDC' },
  destination: { chainId: to, tokenSymbol: 'USDC', amount, receiverAddress: receiver },
});

/** Code of a failed answer, or the reason of a missing one. */
function codeOf({ status, body }: { readonly status: number; readonly body: unknown }): string {
  const { error, code } = Object(body) as { error?: unknown; code?: unknown };
  return status === 0 ? String(body) : `${status} ${String(code ?? error ?? '')}`.trim();
}
