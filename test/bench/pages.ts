/** Pages of many payments are open at one service, and all payers pay at once: delay of the news on each page. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../src/lib/concurrency.ts';
import { openEventStore } from '../../src/store/client.ts';
import { loadText, memory_MiB, ownCpuSeconds } from './machine.ts';
import { type OpenPage, openPage } from './payers.ts';
import { type Asked, createPayment, openCustomer } from './payments.ts';
import { startServer } from './servers.ts';
import { median, table, whole } from './table.ts';
import type { BenchWorld } from './world.ts';

const idle_ms = 10_000;
/** Timeout of the last payout. */
const patience_ms = 180_000;
/** Payments that are created, and pages that are opened, concurrently. */
const atOnce = 20;

/** @param pages number of pages, each of a separate payment */
export async function benchPages(world: BenchWorld, { pages }: { readonly pages: number }): Promise<string> {
  // Five confirmations, each of which is news for all pages.
  const env = { ...world.env, CONFIRMATIONS_8453: '5', PAYOUT_CONFIRMATIONS_8453: '2' };
  const service = await startServer('src/main.ts', env);
  const open: OpenPage[] = [];
  const used = usage(service.pid);
  try {
    const asked = await inParallel(Array.from({ length: pages }), atOnce, () => createPayment(world, service.url));
    const before = used(0);
    open.push(...(await inParallel(asked, atOnce, ({ paymentLink }) => openPage(paymentLink))));
    used(0);
    await sleep(idle_ms);
    const idle = used(idle_ms);
    const began_ms = Date.now();
    // The chain includes the payments in as few blocks as possible.
    await inParallel(asked, atOnce, await openCustomer(world));
    const told = await untilPaidOut(world, asked, open);
    const busy_ms = Date.now() - began_ms;
    const busy = used(busy_ms);
    const reads = open.flatMap(({ reads_ms }) => reads_ms.slice(1));
    const rows = [
      ['no page open', '', '', '', '', before.memory, ''],
      [`${whole(pages)} pages open, nothing happens`, '', '', '', '', idle.memory, idle.cpu],
      ['all are paid at once, and paid out', whole(told.length), ...spread(told), busy.memory, busy.cpu],
      ['  pages read again meanwhile', whole(reads.length), ...spread(reads), '', ''],
    ];
    const head = ['open pages', 'count', 'p50 ms', 'p99 ms', 'most ms', 'MiB', 'CPU, % of a core'];
    const late = told.filter((ms) => ms > 2_000).length;
    return `${table(head, rows)}\n${whole(late)} of ${whole(told.length)} news came later than 2 s after their event; all was over in ${whole(busy_ms / 1_000)} s; load of the machine after: ${loadText()}`;
  } finally {
    for (const page of open) page.close();
    await service.stop();
  }
}

/** Memory now, and processor time since the previous call. */
function usage(pid: number) {
  let before_s = 0;
  return (during_ms: number) => {
    const now_s = ownCpuSeconds(pid);
    const cpu = whole(((now_s - before_s) / (during_ms / 1_000)) * 100);
    before_s = now_s;
    return { memory: whole(memory_MiB(pid)), cpu };
  };
}

const spread = (times_ms: readonly number[]): readonly string[] => {
  const sorted = times_ms.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return [median(sorted), at(0.99), at(1)].map(whole);
};

/** @returns for each event of each payment, the delay until the payment's page learned of it, or of a later one */
async function untilPaidOut(world: BenchWorld, asked: readonly Asked[], open: readonly OpenPage[]): Promise<number[]> {
  const store = openEventStore({ url: world.eventStore.url });
  try {
    const told = await inParallel(asked, atOnce, async ({ id }, at) => {
      for (const until_ms = Date.now() + patience_ms; Date.now() < until_ms; await sleep(500)) {
        const events = await store.read(`payment-${id}`);
        const newest = open[at]?.heard.at(-1)?.events ?? 0;
        if (events.at(-1)?.type !== 'PayoutConfirmed' || newest < events.length) continue;
        return events.slice(1).map(({ metadata }, index) => {
          const heard = open[at]?.heard.find(({ events: count }) => count >= index + 2);
          return (heard?.at_ms ?? Number.NaN) - Date.parse(metadata.at);
        });
      }
      throw new Error(`a payment was not paid out within ${patience_ms} ms, or its page was not told`);
    });
    return told.flat();
  } finally {
    await store.close();
  }
}
