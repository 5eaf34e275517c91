/** Delay of the service's actions: webhooks after a payin, payouts after the funding; for one payment at a time, and for many. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chainOf } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { inParallel } from '../../src/lib/concurrency.ts';
import { loadText } from './machine.ts';
import { createPayment, eventOf, payEach, timeOf, untilPaidOut } from './payments.ts';
import { openSendingNode, type SendingNode } from './sendingNode.ts';
import { startServer } from './servers.ts';
import { median, table } from './table.ts';
import { type BenchWorld, openWorld } from './world.ts';

const atOnce = 20;
/** A prime number, so that payments are sent at every moment between two blocks and two polls. */
const alone = { payments: 25, pause_ms: 1_117 };
const busy = { perSecond: 20, pause_ms: 50 };

/** Block times: one second, and the chain's own. */
const blockTimes_s = [1, chainOf(8453).block_ms / 1_000];

/** @param seconds duration of the load of twenty payments per second */
export async function benchLatency({ seconds }: { readonly seconds: number }): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const blockTime_s of blockTimes_s) {
    const world = await openWorld({ blockTime_s });
    try {
      rows.push(...(await measured(world, `a block each ${blockTime_s * 1_000} ms`, seconds)));
    } finally {
      await world.stop();
    }
  }
  const head = ['how soon', 'payments', 'count', 'p50 ms', 'p95 ms', 'most ms'];
  return `${table(head, rows)}\nload of the machine after: ${loadText()}`;
}

async function measured(world: BenchWorld, pace: string, seconds: number): Promise<readonly (readonly string[])[]> {
  const node = await openSendingNode(world.rpcUrl);
  const service = await startServer('src/main.ts', { ...world.env, RPC_URLS_8453: node.url });
  try {
    const rows: (readonly string[])[] = [];
    for (const [often, count, pause_ms] of [
      ['one at a time', alone.payments, alone.pause_ms],
      [`${busy.perSecond} a second`, busy.perSecond * seconds, busy.pause_ms],
    ] as const) {
      const asked = await inParallel(Array.from({ length: count }), atOnce, () => createPayment(world, service.url));
      await payEach(world, asked, pause_ms);
      const histories = await untilPaidOut(world, asked);
      const told = webhooksOf(world);
      const from = (type: string, to: (history: readonly StoredEvent[]) => number) =>
        spread(histories.map((history) => to(history) - timeOf(history, type)));
      const how = `${often}, ${pace}`;
      rows.push(
        ['payin final until its webhook has come', how, ...from('PayinConfirmed', (own) => told.get(idOf(own)) ?? NaN)],
        ['funded until its payout is signed', how, ...from('PaymentFunded', (own) => timeOf(own, 'PayoutSigned'))],
        ['funded until its payout is sent', how, ...from('PaymentFunded', (own) => sentAt(node, own))],
      );
    }
    return rows;
  } finally {
    await service.stop();
    await node.stop();
  }
}

const idOf = ([first]: readonly StoredEvent[]): string => first?.stream.slice('payment-'.length) ?? '';

const sentAt = (node: SendingNode, history: readonly StoredEvent[]): number =>
  node.sentAt_ms((eventOf(history, 'PayoutSigned').data as { readonly hash: string }).hash);

function spread(times_ms: readonly number[]): readonly string[] {
  const sorted = times_ms.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return [sorted.length, median(sorted), at(0.95), at(1)].map((value) => String(Math.round(value)));
}

/** Time of each payment's first webhook, from the receiver's log. */
function webhooksOf({ dataDir }: BenchWorld): ReadonlyMap<string, number> {
  const lines = readFileSync(join(dataDir, 'webhook.log'), 'utf8').split('\n').filter(Boolean);
  const came = new Map<string, number>();
  for (const line of lines) {
    const { receivedAt, body } = JSON.parse(line) as { readonly receivedAt: string; readonly body: string };
    const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: { readonly id: string } };
    if (type === 'payment_payin_completed') came.set(data.id, Date.parse(receivedAt));
  }
  return came;
}
