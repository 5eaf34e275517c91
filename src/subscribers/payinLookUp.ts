/** A registered payin is looked for at once instead of waiting for the scan. Only speeds things up: losing it loses nothing. */
import type { Ingester } from '../../commands/chainPorts.ts';
import type { Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { recordPayin } from '../../commands/recordPayin.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { paysInto } from '../../domain/payment/payins.ts';
import type { Payment } from '../../domain/payment/state.ts';

export interface PayinLookUpDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ingesters: ReadonlyMap<ChainId, Ingester>;
  readonly signal: AbortSignal;
}

const underWayMax = 50;
const triesMax = 8;

/** @returns a function that starts the look-up and does not wait for it */
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

  async function search(ingester: Ingester, { terms }: Payment, txHash: string): Promise<void> {
    for (let tries = 0; tries < triesMax && !signal.aborted; tries += 1) {
      const transfers = await ingester.lookUp(txHash, signal);
      const ours = transfers.filter((transfer) => paysInto(terms.deposit, transfer));
      for (const transfer of ours) await recordPayin({ handle, clock }, terms, { transfer, final: false });
      if (transfers.length > 0) return;
      await clock.sleep(chainOf(terms.source.chainId).block_ms, signal);
    }
  }
}
