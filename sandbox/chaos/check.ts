/** Checks after the storm: chains, receiver and log, each queried separately. */
import { readFileSync } from 'node:fs';
import { eventCodec, streamPrefixes, verifyChain } from '../../commands/codec.ts';
import { type ChainId, chainOf, chains } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import type { PaymentEvent, Transfer } from '../../domain/payment/events.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import { openEventStore } from '../../src/store/client.ts';
import type { BalanceOf } from '../balances.ts';
import { customerOn, type Payment, type Placed, tokenOf, unitsOf } from './customers.ts';
import type { Habit } from './orders.ts';
import type { ChaosWorld } from './world.ts';

/** In smallest units, by chain and token. */
export type Sums = ReadonlyMap<string, bigint>;

/** Balances of customers, and of treasury and deposits. */
export interface Stock {
  readonly customers: Sums;
  readonly ours: Sums;
}

export interface Ended extends Placed {
  readonly end: Payment;
}

/** By stream, in order. */
export type Log = ReadonlyMap<string, readonly StoredEvent[]>;

export interface Withdrawn {
  readonly chainId: ChainId;
  readonly receiver: string;
  readonly amount: bigint;
}

const assets = chains.flatMap(({ id, tokens }) => tokens.map((token) => ({ chainId: id, token })));
const keyOf = (chainId: ChainId, token: { readonly address: string }): string => `${chainId} ${token.address}`;
const areFunded: ReadonlySet<Habit> = new Set<Habit>(['exact', 'inParts', 'over']);

/** @param deposits addresses of the payments; the same address on every EVM chain */
export async function takeStock(
  { world, keys, ...chaos }: ChaosWorld,
  balanceOf: BalanceOf,
  treasuryOn: (chainId: ChainId) => string,
  deposits: readonly Pick<Placed, 'order' | 'payment'>[],
): Promise<Stock> {
  const [customers, ours] = [new Map<string, bigint>(), new Map<string, bigint>()];
  for (const { chainId, token } of assets) {
    const key = keyOf(chainId, token);
    customers.set(key, await balanceOf(chainId, token, customerOn({ world, keys, ...chaos }, chainId)));
    const own = new Set([treasuryOn(chainId)]);
    for (const { order, payment } of deposits)
      if (order.from === chainId && chainId !== 1500) own.add(payment.source.receiverAddress);
    let sum = 0n;
    for (const account of own) sum += await balanceOf(chainId, token, account);
    ours.set(key, sum);
  }
  return { customers, ours };
}

/** @returns a sentence per problem; none if all is well */
export async function checkAll(
  chaos: ChaosWorld,
  balanceOf: BalanceOf,
  log: Log,
  {
    ended,
    before,
    after,
    withdrawn,
  }: {
    readonly ended: readonly Ended[];
    readonly before: Stock;
    readonly after: Stock;
    readonly withdrawn: readonly Withdrawn[];
  },
): Promise<readonly string[]> {
  return [
    ...checkEnds(ended),
    ...(await checkReceivers(ended, withdrawn, balanceOf)),
    ...checkWebhooks(chaos),
    ...[...log.values()].flatMap((events) => {
      const broken = verifyChain(events);
      return broken ? [`stream ${broken.stream} is broken at revision ${broken.revision}`] : [];
    }),
    ...checkSums(log, before, after),
  ];
}

function checkEnds(ended: readonly Ended[]): readonly string[] {
  return ended.flatMap(({ order, end }) => {
    const name = `${order.orderId} (${end.id}, ${order.habit}, ${order.from} → ${order.to})`;
    if (!terminalStatuses.includes(end.status)) return [`${name} has no end: it is ${end.status}`];
    const isPaid = end.status === 'payment_payout_completed' || end.status === 'payment_completed';
    return isPaid === areFunded.has(order.habit) ? [] : [`${name} has ended as ${end.status} (${end.errorCode})`];
  });
}

/** Each payment has a separate receiver: its balance is the payment's payout. */
async function checkReceivers(
  ended: readonly Ended[],
  withdrawn: readonly Withdrawn[],
  balanceOf: BalanceOf,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { order, end } of ended) {
    const token = tokenOf(order.to, 'USDC');
    const isPaid = end.status === 'payment_payout_completed' || end.status === 'payment_completed';
    const due = isPaid ? unitsOf(order.amount, token) : 0n;
    const got = await balanceOf(order.to, token, order.receiver);
    if (got !== due)
      wrong.push(`${order.orderId} (${end.id}) paid ${got} of ${due} units to ${order.receiver} on ${order.to}`);
  }
  for (const { chainId, receiver, amount } of withdrawn) {
    const got = await balanceOf(chainId, tokenOf(chainId, 'USDC'), receiver);
    if (got !== amount) wrong.push(`the withdrawal on ${chainId} brought ${got} of ${amount} units`);
  }
  return wrong;
}

interface Posted {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function postsOf({ world }: ChaosWorld): readonly Posted[] {
  const lines = readFileSync(world.receiver.log, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Posted);
}

export interface Deliveries {
  readonly begun: number;
  readonly delivered: number;
  /** An unsuccessful answer, or none in time: never sent again automatically. */
  readonly failed: number;
  /** The service died between the start and the outcome: the outcome is unknown, and it is never sent again automatically. */
  readonly unknown: number;
}

export function deliveriesIn(log: Log): Deliveries {
  const streams = [...log].filter(([stream]) => stream.startsWith('webhook-')).map(([, events]) => events);
  const having = (type: string) => streams.filter((events) => events.some((event) => event.type === type)).length;
  const [delivered, failed] = [having('WebhookDelivered'), having('WebhookExhausted')];
  return { begun: streams.length, delivered, failed, unknown: streams.length - delivered - failed };
}

function checkWebhooks(chaos: ChaosWorld): readonly string[] {
  const byId = Map.groupBy(postsOf(chaos), ({ headers }) => headers['webhook-id'] ?? 'none');
  return [...byId].flatMap(([id, posts]) =>
    posts.length > 1 ? [`webhook ${id} was received ${posts.length} times`] : [],
  );
}

export async function wholeLog({ dataDir }: ChaosWorld): Promise<Log> {
  const settings = readFileSync(`${dataDir}/service.env`, 'utf8');
  const store = openEventStore({ url: /^EVENTSTORE_URL=(.*)$/m.exec(settings)?.[1] ?? '' });
  try {
    const events: StoredEvent[] = [];
    for await (const batch of store.all({
      after: null,
      prefixes: streamPrefixes,
      signal: new AbortController().signal,
    })) {
      events.push(...batch.events);
      if (batch.live) break;
    }
    return Map.groupBy(events, ({ stream }) => stream);
  } finally {
    await store.close();
  }
}

/** Customers' spending equals the log's receipts; our increase equals that, less the outgoing amounts. */
function checkSums(log: Log, before: Stock, after: Stock): readonly string[] {
  const { received, left, refunded } = recorded(log);
  return assets.flatMap(({ chainId, token }) => {
    const key = keyOf(chainId, token);
    const of = (sums: Sums) => sums.get(key) ?? 0n;
    const spent = of(before.customers) - of(after.customers) + of(refunded);
    const kept = of(after.ours) - of(before.ours);
    const name = `${token.symbol} on ${chainOf(chainId).name}`;
    return [
      ...(spent === of(received) ? [] : [`${name}: customers paid ${spent} units, the log has ${of(received)}`]),
      ...(kept === of(received) - of(left)
        ? []
        : [`${name}: we hold ${kept} units more, the log received ${of(received)} and sent ${of(left)}`]),
    ];
  });
}

/** `left`: payouts, refunds and withdrawals that are confirmed. Refunds go to our customers. */
function recorded(log: Log) {
  const received = new Map<string, bigint>();
  const left = new Map<string, bigint>();
  const refunded = new Map<string, bigint>();
  const add = (sums: Map<string, bigint>, chainId: ChainId, token: { readonly address: string }, amount: string) =>
    sums.set(keyOf(chainId, token), (sums.get(keyOf(chainId, token)) ?? 0n) + BigInt(amount));
  for (const [stream, stored] of log) {
    const events = stored.flatMap((each) => (eventCodec.read(each) as PaymentEvent | undefined) ?? []);
    if (stream.startsWith('payment-')) ofPayment(events);
    if (stream.startsWith('unmatched-')) ofUnmatched(stored);
    if (stream.startsWith('operation-')) ofOperation(stored);
  }
  return { received, left, refunded };

  function ofPayment(events: readonly PaymentEvent[]): void {
    const confirmed = new Map<string, Transfer>();
    for (const { type, data } of events)
      if (type === 'PayinConfirmed') confirmed.set(`${data.transfer.txHash} ${data.transfer.index}`, data.transfer);
    for (const { chainId, token, amount } of confirmed.values()) add(received, chainId, token, amount);
    const order = events.find((event) => event.type === 'PayoutRequested');
    if (order && events.some(({ type }) => type === 'PayoutConfirmed'))
      add(left, order.data.chainId, order.data.token, order.data.amount);
    for (const event of events) {
      if (event.type !== 'RefundRequested') continue;
      const { refund, chainId, token, amount } = event.data;
      if (!events.some(({ type, data }) => type === 'RefundConfirmed' && data.refund === refund)) continue;
      add(left, chainId, token, amount);
      add(refunded, chainId, token, amount);
    }
  }

  function ofUnmatched(events: readonly StoredEvent[]): void {
    const seen = events.find(({ type }) => type === 'TransferUnmatched')?.data as { transfer: Transfer } | undefined;
    if (seen) add(received, seen.transfer.chainId, seen.transfer.token, seen.transfer.amount);
  }

  function ofOperation(events: readonly StoredEvent[]): void {
    const order = events[0]?.data as { kind: string; chainId: ChainId; token: { address: string }; amount: string };
    if (order.kind === 'withdrawal' && events.some(({ type }) => type === 'OperationConfirmed'))
      add(left, order.chainId, order.token, order.amount);
  }
}
