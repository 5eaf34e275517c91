/** What a payment's source chain shows: that money came, that it left again, that the time to pay is over. */
import type { ChainId } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { expire } from '../domain/payment/close.ts';
import { type Transfer, transferId } from '../domain/payment/events.ts';
import * as payins from '../domain/payment/payins.ts';
import { type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import type { Handle, Handled } from './handle.ts';
import type { Clock } from './ports.ts';
import { recordUnmatched } from './recordUnmatched.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

/** The payment that a deposit belongs to. */
export interface PaymentRef {
  readonly paymentId: string;
  readonly appId: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/**
 * Records a transfer to a deposit, or one that an operator gave to the payment. What the payment takes up no more is kept by itself once it is final. Repeating it changes nothing, so
 * a crash before or after an append costs only the repetition: the scan's cursor moves after this.
 */
export async function recordPayin(
  { handle, clock }: Deps,
  payment: PaymentRef,
  seen: { readonly transfer: Transfer; readonly final: boolean; readonly assigned?: boolean },
): Outcome {
  const { paymentId, appId } = payment;
  const cause = `worker:payins payin ${seen.transfer.chainId}:${seen.transfer.txHash}` as const;
  const decide = (state: PaymentState) => payins.recordPayin(state, { ...seen, now: clock.now() });
  const recorded = await handle(paymentDecider, paymentId, decide, { cause, appId });
  if (isRefusal(recorded) || !seen.final || takenUp(recorded.state, seen.transfer)) return recorded;
  const isNew = await recordUnmatched({ handle, clock }, seen.transfer, payment);
  return { ...recorded, appended: isNew ? 1 : 0 };
}

/** Whether the payment's stream holds the transfer. */
export const takenUp = (payment: PaymentState, transfer: Transfer): boolean =>
  payment?.payins.some(({ id }) => id === transferId(transfer)) ?? false;

/** Records that the block which held a payin has left its chain. */
export function recordOrphan(
  { handle }: Deps,
  { paymentId, appId }: PaymentRef,
  seen: { readonly transferId: string; readonly blockHash: string },
): Outcome {
  const cause = `worker:payins orphaned ${seen.blockHash}` as const;
  return handle(paymentDecider, paymentId, (state) => payins.orphanPayin(state, seen), { cause, appId });
}

/** @param scanned how far the final scan of each chain has come that the payment can be paid on, in the chain's own time */
export function expirePayment(
  { handle, clock }: Deps,
  { paymentId, appId }: PaymentRef,
  scanned: ReadonlyMap<ChainId, Instant | null>,
): Outcome {
  const reached = [...scanned.values()].map(String).sort()[0];
  const cause = `worker:expiry final scan reached ${reached}` as const;
  const scannedTo = (chainId: ChainId): Instant | null => scanned.get(chainId) ?? null;
  return handle(paymentDecider, paymentId, (state) => expire(state, { scannedTo, now: clock.now() }), { cause, appId });
}
