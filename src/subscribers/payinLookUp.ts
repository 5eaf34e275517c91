/** Looks for payins by their transaction, beside the scan: at once for what a merchant registered, again for what a payment could not take. */
import type { Ingester } from '../../commands/chainPorts.ts';
import { currentState, type Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { recordPayin } from '../../commands/recordPayin.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { paysInto } from '../../domain/payment/payins.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import type { Instant } from '../../domain/time.ts';
import type { Worker } from './worker.ts';

export interface PayinLookUpDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ingesters: ReadonlyMap<ChainId, Ingester>;
  readonly signal: AbortSignal;
}

const underWayMax = 50;
const triesMax = 8;

/**
 * A registered payin is looked for at once instead of waiting for the scan. Only speeds things up: losing it loses nothing.
 * @returns a function that starts the look-up and does not wait for it
 */
export function createPayinLookUp({ handle, clock, ingesters, signal }: PayinLookUpDeps) {
  let underWay = 0;

  return (payment: Payment, txHash: string): void => {
    const ingester = ingesters.get(payment.terms.source.chainId);
    if (!ingester || underWay >= underWayMax) return;
    underWay += 1;
    // What fails here, the scan does anyway.
    search(ingester, payment, txHash)
      .catch(() => {})
      .finally(() => {
        underWay -= 1;
      });
  };

  async function search(ingester: Ingester, { terms, deposits }: Payment, txHash: string): Promise<void> {
    for (let tries = 0; tries < triesMax && !signal.aborted; tries += 1) {
      const transfers = await ingester.lookUp(txHash, signal);
      const ours = transfers.filter((transfer) => paysInto(deposits, transfer));
      for (const transfer of ours) await recordPayin({ handle, clock }, terms, { transfer, final: false });
      if (transfers.length > 0) return;
      await clock.sleep(chainOf(terms.source.chainId).block_ms, signal);
    }
  }
}

interface Parked {
  readonly key: string;
}

export interface ParkedPayinsDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ingester: Ingester;
  /** Noted under this worker's name, due and not set aside for good. */
  readonly due: (max: number, now: Instant) => Promise<readonly Parked[]>;
}

export const parkedPayinsName = (chainId: ChainId): string => `payins:${chainId}:parked`;

/** What a transfer is noted under. */
export const parkedPayinKey = (paymentId: string, txHash: string): string => `${paymentId} ${txHash}`;

/**
 * Tries transfers again that a payment could not take when its chain was scanned: the scan has gone on without them. Records what it
 * finds as seen; the final passes confirm whatever was seen in blocks that they have gone past.
 */
export function parkedPayinsWorker({ handle, clock, ingester, due }: ParkedPayinsDeps): Worker<Parked> {
  return {
    name: parkedPayinsName(ingester.chainId),
    concurrency: 2,
    due,
    keyOf: ({ key }) => key,
    async act({ key }, signal) {
      const [paymentId = '', txHash = ''] = key.split(' ');
      const payment = await currentState(handle, paymentDecider, paymentId);
      const transfers = await ingester.lookUp(txHash, signal);
      const found = transfers.filter((transfer) => payment && paysInto(payment.deposits, transfer));
      if (!payment || found.length === 0) throw new Error(`transaction ${txHash} shows no transfer to ${paymentId}`);
      for (const transfer of found) {
        const outcome = await recordPayin({ handle, clock }, payment.terms, { transfer, final: false });
        if (isRefusal(outcome)) throw new Error(`${outcome.refused}: ${outcome.message}`);
      }
    },
  };
}
