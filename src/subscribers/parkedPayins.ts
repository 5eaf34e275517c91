/** Tries transfers again that a payment could not take when its chain was scanned: the scan has gone on without them. */

import type { Ingester } from '../../commands/chainPorts.ts';
import { currentState, type Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { recordPayin } from '../../commands/recordPayin.ts';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { paysInto } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import type { Instant } from '../../domain/time.ts';
import type { Worker } from './worker.ts';

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

/** Records what it finds as seen; the final passes confirm whatever was seen in blocks that they have gone past. */
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
      const found = transfers.filter((transfer) => payment && paysInto(payment.terms.deposit, transfer));
      if (!payment || found.length === 0) throw new Error(`transaction ${txHash} shows no transfer to ${paymentId}`);
      for (const transfer of found) {
        const outcome = await recordPayin({ handle, clock }, payment.terms, { transfer, final: false });
        if (isRefusal(outcome)) throw new Error(`${outcome.refused}: ${outcome.message}`);
      }
    },
  };
}
