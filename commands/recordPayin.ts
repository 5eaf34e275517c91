import type { Refusal } from '../domain/decider.ts';
import type { Transfer } from '../domain/payment/events.ts';
import { recordPayin as decideRecord, registerPayin as decideRegister, orphanPayin } from '../domain/payment/payins.ts';
import { type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Handle, Handled } from './handle.ts';
import type { Clock } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

/** The payment that a deposit belongs to. */
export interface PaymentRef {
  readonly paymentId: string;
  readonly appId: string;
}

/**
 * Records a transfer to a deposit. Repeating it changes nothing, so a crash before or after the append costs only
 * the repetition: the scan's cursor moves after this.
 */
export function recordPayin(
  { handle, clock }: Deps,
  payment: PaymentRef,
  seen: { readonly transfer: Transfer; readonly final: boolean },
): Promise<Handled<PaymentState> | Refusal> {
  const cause = `payin ${seen.transfer.chainId}:${seen.transfer.txHash}`;
  return handle(paymentDecider, payment.paymentId, (state) => decideRecord(state, { ...seen, now: clock.now() }), {
    cause,
    appId: payment.appId,
  });
}

/** Records that the block which held a payin has left its chain. */
export function recordOrphan(
  { handle }: Deps,
  payment: PaymentRef,
  seen: { readonly transferId: string; readonly blockHash: string },
): Promise<Handled<PaymentState> | Refusal> {
  return handle(paymentDecider, payment.paymentId, (state) => orphanPayin(state, seen), {
    cause: `orphaned ${seen.blockHash}`,
    appId: payment.appId,
  });
}

/** The merchant's hint where to look for the payin. */
export function registerPayin(
  { handle, clock }: Deps,
  payment: PaymentRef,
  hint: { readonly txHash: string; readonly senderAddress: string },
  cause: string,
): Promise<Handled<PaymentState> | Refusal> {
  return handle(paymentDecider, payment.paymentId, (state) => decideRegister(state, { ...hint, now: clock.now() }), {
    cause,
    appId: payment.appId,
  });
}
