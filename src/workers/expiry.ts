/** Expires payments that were not funded in time, by the source chain's clock and not by the service's. */

import { currentState, type Handle } from '../../commands/handle.ts';
import type { Clock } from '../../commands/ports.ts';
import { expirePayment } from '../../commands/recordPayin.ts';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { nextStep } from '../../domain/payment/backing.ts';
import { payableFrom } from '../../domain/payment/sources.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import type { Instant } from '../../domain/time.ts';
import type { PaymentKey } from '../../queries/work.ts';
import type { Worker } from './engine.ts';

export interface ExpiryDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly due: (max: number, now: Instant) => Promise<readonly PaymentKey[]>;
  /** Chain time up to which all final passes of a chain have scanned; null before their first range. */
  readonly scannedTo: (chainId: ChainId) => Promise<Instant | null>;
}

export function expiryWorker(deps: ExpiryDeps): Worker<PaymentKey> {
  const { handle, clock } = deps;
  return {
    name: 'expiry',
    concurrency: 8,
    due: deps.due,
    keyOf: ({ paymentId }) => paymentId,
    async act({ paymentId }) {
      const payment = await currentState(handle, paymentDecider, paymentId);
      if (!payment || nextStep(payment, clock.now()).do !== 'expire') return;
      // All of its sources: the payer may choose another chain meanwhile, and the decision uses the current choice.
      const chainIds = [...new Set(payableFrom(payment).map(({ chainId }) => chainId))];
      const scanned = await Promise.all(
        chainIds.map(async (chainId) => [chainId, await deps.scannedTo(chainId)] as const),
      );
      const outcome = await expirePayment(deps, payment.terms, new Map(scanned));
      // A chain is not past the end, or a payin in time is not final yet: the list returns the payment again.
      if (isRefusal(outcome) && outcome.refused !== 'illegalStep') throw new Error(outcome.message);
    },
  };
}
