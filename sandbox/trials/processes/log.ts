/** The event log and the webhook receiver's log after a storm: recorded money, hash chains, and deliveries. */
import { readFileSync } from 'node:fs';
import { eventCodec, streamPrefixes, verifyChain } from '../../../commands/codec.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { StoredEvent } from '../../../domain/decider.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import { openEventStore } from '../../../src/store/client.ts';
import { addTo, type Flows } from '../check.ts';
import type { ProcessWorld } from './world.ts';

/** By stream, in order. */
export type Log = ReadonlyMap<string, readonly StoredEvent[]>;

export async function readLog({ eventStoreUrl }: ProcessWorld): Promise<Log> {
  const store = openEventStore({ url: eventStoreUrl });
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

/** @returns a sentence for each stream whose hash chain is incomplete */
export const checkHashes = (log: Log): readonly string[] =>
  [...log.values()].flatMap((events) => {
    const broken = verifyChain(events);
    return broken ? [`stream ${broken.stream} is broken at revision ${broken.revision}`] : [];
  });

/** Recorded money. Payouts, refunds and withdrawals count once they are confirmed. Refunds go to our customers. */
export function flowsOf(log: Log): Flows {
  const [received, left, refunded] = [new Map<string, bigint>(), new Map<string, bigint>(), new Map<string, bigint>()];
  const add = (sums: Map<string, bigint>, chainId: ChainId, token: { readonly address: string }, amount: string) =>
    addTo(sums, chainId, token, BigInt(amount));
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

interface Posted {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Requests that the webhook receiver got. */
export function readPosts({ receiverLog }: ProcessWorld): readonly Posted[] {
  const lines = readFileSync(receiverLog, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Posted);
}

/** @returns a sentence for each webhook that was received twice */
export function checkPosts(posts: readonly Posted[]): readonly string[] {
  const byId = Map.groupBy(posts, ({ headers }) => headers['webhook-id'] ?? 'none');
  return [...byId].flatMap(([id, all]) => (all.length > 1 ? [`webhook ${id} was received ${all.length} times`] : []));
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
