/** Kills an instance of each role under requests and payments, and looks for acknowledged payments that are lost. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../src/lib/concurrency.ts';
import { openEventStore } from '../../src/store/client.ts';
import { settled } from './create.ts';
import { createPayment, orderOf, payEach, untilPaidOut } from './payments.ts';
import type { Server } from './servers.ts';
import { table } from './table.ts';
import type { BenchWorld } from './world.ts';

const roles = ['api', 'projections', 'subscribers'] as const;
export type Role = (typeof roles)[number];
export type Instances = Readonly<Record<Role, readonly [Server, Server]>>;

export interface KillOptions {
  readonly seconds: number;
  readonly connections: number;
}

const paidMeanwhile = 30;

/** Requests and payments continue while an instance dies; the other instances do its work. */
export async function killEach(world: BenchWorld, instances: Instances, options: KillOptions): Promise<string> {
  const rows: (readonly (string | number)[])[] = [];
  let alive: readonly Server[] = instances.api;
  for (const role of roles) {
    await settled(world);
    const [victim] = instances[role];
    const asked = await inParallel(Array.from({ length: paidMeanwhile }), 10, () =>
      createPayment(world, alive.at(-1)?.url ?? ''),
    );
    const [orders] = await Promise.all([
      ordersThrough(world, alive, options),
      payEach(world, asked, (options.seconds * 1_000) / paidMeanwhile),
      sleep((options.seconds * 1_000) / 3).then(() => process.kill(victim.pid, 'SIGKILL')),
    ]);
    if (role === 'api') alive = alive.filter((server) => server !== victim);
    const paidOut = await untilPaidOut(world, asked);
    await settled(world);
    const lost = await missing(world, orders.acknowledged);
    rows.push([
      role,
      orders.acknowledged.length,
      orders.repeated,
      lost.inLog,
      lost.inReadModels,
      `${paidOut.length} of ${asked.length}`,
    ]);
  }
  const head = [
    'killed -9',
    'creates acknowledged',
    'requests repeated',
    'not in the log',
    'not in the read models',
    'paid out',
  ];
  return table(head, rows);
}

interface Acknowledged {
  readonly orderId: string;
  readonly id: string;
}

/** Calls like a client of a load balancer: each attempt goes to the next instance, and an unanswered order is repeated. */
async function ordersThrough(
  { ordersKey }: BenchWorld,
  over: readonly Server[],
  { seconds, connections }: KillOptions,
) {
  const acknowledged: Acknowledged[] = [];
  const until = performance.now() + seconds * 1_000;
  let [number, turn, repeated] = [0, 0, 0];
  const run = `${process.pid}-${Date.now().toString(36)}`;
  async function ask(orderId: string): Promise<string | null> {
    turn += 1;
    const url = over[turn % over.length]?.url;
    const response = await fetch(`${url}/payment-api/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ordersKey },
      body: JSON.stringify({ ...orderOf(), orderId }),
    }).catch(() => null);
    if (response?.status !== 201 && response?.status !== 200) return null;
    const answer = (await response.json().catch(() => null)) as { id: string } | null;
    return answer?.id ?? null;
  }
  await inParallel(Array.from({ length: connections }), connections, async () => {
    while (performance.now() < until) {
      number += 1;
      const orderId = `kill-${run}-${number}`;
      for (let tries = 0; tries < 100; tries += 1) {
        const id = await ask(orderId);
        if (id !== null) {
          acknowledged.push({ orderId, id });
          break;
        }
        repeated += 1;
        await sleep(50);
      }
    }
  });
  return { acknowledged, repeated };
}

/** Returns the number of acknowledged payments that are missing. */
async function missing(world: BenchWorld, acknowledged: readonly Acknowledged[]) {
  const store = openEventStore({ url: world.eventStore.url });
  let [inLog, inReadModels] = [0, 0];
  try {
    await inParallel(acknowledged, 50, async ({ id, orderId }) => {
      const [created] = await store.read(`payment-${id}`);
      if ((created?.data as { orderId?: string } | undefined)?.orderId !== orderId) inLog += 1;
    });
    const rows = await world.database.query<{ id: string }>('SELECT payment_id AS id FROM payments');
    const known = new Set(rows.map(({ id }) => id));
    inReadModels = acknowledged.filter(({ id }) => !known.has(id)).length;
  } finally {
    await store.close();
  }
  return { inLog, inReadModels };
}
