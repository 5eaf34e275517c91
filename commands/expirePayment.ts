import type { Refusal } from '../domain/decider.ts';
import { expire } from '../domain/payment/close.ts';
import { type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import type { Handle, Handled } from './handle.ts';
import type { Clock } from './ports.ts';
import type { PaymentRef } from './recordPayin.ts';

/** @param chainTime how far the source chain's final scan has come, in the chain's own time */
export function expirePayment(
  { handle, clock }: { readonly handle: Handle; readonly clock: Clock },
  payment: PaymentRef,
  chainTime: Instant,
): Promise<Handled<PaymentState> | Refusal> {
  return handle(paymentDecider, payment.paymentId, (state) => expire(state, { chainTime, now: clock.now() }), {
    cause: `final scan reached ${chainTime}`,
    appId: payment.appId,
  });
}
