/** Payouts that cannot be made: after long enough their payments bounce, and what came can go back. */

import { currentState, type Handle, type Handled } from '../../../commands/handle.ts';
import type { Outgoing } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { PayoutBlocked, type PayoutRail } from '../../../commands/transferPorts.ts';
import type { Refusal } from '../../../domain/decider.ts';
import { bounceImpossible } from '../../../domain/payment/close.ts';
import type { PaymentState } from '../../../domain/payment/state.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { canLand } from '../../../domain/transfer/leg.ts';

type Asking = Pick<PayoutRail, 'account' | 'minedNonce' | 'prepare'>;

/**
 * Why the chain would refuse this transfer because of its receiver: frozen, closed, without a trustline. Nothing is signed for it. A token
 * that refuses the treasury as well, or nobody at all, says nothing of the receiver.
 *
 * @returns undefined where it would not refuse it, or something else is in the way
 */
export async function receiverRefused(
  rail: Asking,
  { order }: Pick<Outgoing, 'order'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const nonce = await rail.minedNonce(signal);
  const refusal = async (receiver: string, receiverMemo: string | null): Promise<PayoutBlocked | undefined> => {
    try {
      await rail.prepare({ ...order, receiver, receiverMemo }, nonce);
      return undefined;
    } catch (error) {
      if (error instanceof PayoutBlocked) return error;
      throw error;
    }
  };
  const refused = await refusal(order.receiver, order.receiverMemo);
  if (refused?.reason !== 'refusedByToken') return undefined;
  return (await refusal(rail.account, null)) ? undefined : refused.message;
}

/** Nothing is signed for it that could land, and no operator has a hand on it. */
export const mayBeImpossible = ({ leg, step }: Pick<Outgoing, 'leg' | 'step'>): boolean =>
  (step.do === 'sign' || step.do === 'order') && !leg.attempts.some(canLand) && leg.short === null;

/** Crash before the append: nothing happened, and it is asked again. After it: repeating it appends nothing. */
export async function giveUpPayout(
  { handle, clock }: { readonly handle: Handle; readonly clock: Pick<Clock, 'now'> },
  paymentId: string,
  why: string,
): Promise<Handled<PaymentState> | Refusal> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  const facts = { cause: 'worker:impossiblePayouts', appId: payment?.terms.appId ?? null } as const;
  const note = why.slice(0, 400);
  return handle(paymentDecider, paymentId, (state) => bounceImpossible(state, note, clock.now()), facts);
}
