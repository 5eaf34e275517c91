/** Payouts per second of one account on one EVM chain, by the node's distance and the block time. */
import { outstandingMax } from '../../domain/treasury/state.ts';
import { inParallel } from '../../src/lib/concurrency.ts';
import { loadText } from './machine.ts';
import { createPayment, payEach, timeOf, untilPaidOut } from './payments.ts';
import { openSendingNode } from './sendingNode.ts';
import { startServer } from './servers.ts';
import { table } from './table.ts';
import { openWorld } from './world.ts';

const atOnce = 20;
const blockTimes_s = [1, 0.25];
const roundTrips_ms = [0, 100];

/** @param burst number of payments, all paid before the service polls */
export async function benchPayouts({ burst }: { readonly burst: number }): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const blockTime_s of blockTimes_s)
    for (const roundTrip_ms of roundTrips_ms) rows.push(await measured({ blockTime_s, roundTrip_ms, burst }));
  return `${table(['a block each', 'round trip', 'payouts', 'signed a second', 'its nonces allow'], rows)}\nload of the machine after: ${loadText()}`;
}

interface Setting {
  readonly blockTime_s: number;
  readonly roundTrip_ms: number;
  readonly burst: number;
}

async function measured({ blockTime_s, roundTrip_ms, burst }: Setting): Promise<readonly string[]> {
  const world = await openWorld({ blockTime_s });
  try {
    const api = await startServer('src/main.ts', { ...world.env, ROLES: 'api,projections' });
    const asked = await inParallel(Array.from({ length: burst }), atOnce, () => createPayment(world, api.url));
    await payEach(world, asked, 10);
    await api.stop();
    const node = await openSendingNode(world.rpcUrl, roundTrip_ms);
    const service = await startServer('src/main.ts', { ...world.env, RPC_URLS_8453: node.url });
    try {
      const signed = (await untilPaidOut(world, asked))
        .map((history) => timeOf(history, 'PayoutSigned'))
        .toSorted((a, b) => a - b);
      const took_s = ((signed.at(-1) ?? 0) - (signed[0] ?? 0)) / 1_000;
      return [
        `${blockTime_s} s`,
        `${roundTrip_ms} ms`,
        String(signed.length),
        (signed.length / took_s).toFixed(1),
        String(outstandingMax / blockTime_s),
      ];
    } finally {
      await service.stop();
      await node.stop();
    }
  } finally {
    await world.stop();
  }
}
