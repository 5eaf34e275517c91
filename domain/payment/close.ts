/** How a payment ends without a payout: expired or bounced. */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { BounceCode, PaymentEvent } from './events.ts';
import { counted, type Payin, type Payment, type PaymentState, type Standing, sumOf } from './state.ts';
import { canLand } from './transfer.ts';

/**
 * Ends a payment that was not funded in time.
 *
 * @param chainTime how far the source chain has been scanned to its final depth: our own clock never expires a paid payment
 */
export function expire(
  p: PaymentState,
  { chainTime, now }: { chainTime: Instant; now: Instant },
): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  if (p.funded || p.closed) return [];
  if (chainTime <= p.terms.expiresAt) {
    return refuse('illegalStep', `the chain is scanned to ${chainTime}, not yet past ${p.terms.expiresAt}: wait`);
  }
  const onTime = counted(p);
  if (onTime.some((payin) => payin.phase === 'detected')) {
    return refuse('illegalStep', 'a payin that was on time is not final yet: wait');
  }
  if (onTime.length > 0) return [bounced('amountTooLow', onTime, now)];
  return [{ type: 'PaymentExpired', data: { chainTime, expiredAt: now } }, ...closeHeld(p, now)];
}

/** Money that came but cannot be paid out: late, in another token, on another chain. */
export function closeHeld(p: Payment, now: Instant): readonly PaymentEvent[] {
  const held = p.payins.find((payin) => payin.phase === 'confirmed' && codeOf[payin.standing]);
  const code = held && codeOf[held.standing];
  return code ? [bounced(code, [held], now)] : [];
}

const codeOf: Partial<Record<Standing, BounceCode>> = {
  late: 'latePayin',
  wrongToken: 'wrongToken',
  wrongChain: 'wrongChain',
};

/** An operator's decision: a funded payment whose payout can never be made and of which nothing was ever signed. */
export function bounceImpossible(p: PaymentState, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  if (p.closed?.kind === 'bounced') return [];
  if (!p.funded || p.payout?.attempts.some(canLand)) {
    return refuse('illegalStep', 'a payout attempt can still land, or the payment is not funded: it cannot be bounced');
  }
  return [
    {
      type: 'PaymentBounced',
      data: { code: 'payoutImpossible', received: p.funded.received.toString(), bouncedAt: now },
    },
  ];
}

const bounced = (code: BounceCode, payins: readonly Payin[], now: Instant): PaymentEvent => ({
  type: 'PaymentBounced',
  data: { code, received: sumOf(payins).toString(), bouncedAt: now },
});
