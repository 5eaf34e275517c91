/** Whether the confirmed payins fund the payment, and how they are split. */
import { assert } from '../decider.ts';
import { rescale } from '../money.ts';
import type { Instant } from '../time.ts';
import type { BounceCode, PaymentEvent, PaymentEventData } from './events.ts';
import { type RouteDecimals, type Split, splitAny } from './fees.ts';
import { counted, type Payin, type Payment, sumOf } from './state.ts';

type Outcome =
  | (Split & { rule: PaymentEventData<'PaymentFunded'>['rule']; sourceAmount: bigint })
  | BounceCode
  | 'notYet';

/** PaymentFunded with all its inputs, PaymentBounced when anyAmount is outside its bounds, or nothing yet. */
export function fund(p: Payment, now: Instant): readonly PaymentEvent[] {
  if (p.funded || p.closed) return [];
  const payins = counted(p).filter((payin) => payin.phase === 'confirmed');
  if (payins.length === 0) return [];
  const received = sumOf(payins);
  const outcome = p.terms.type === 'anyAmount' ? splitWhatCame(p, payins, received) : splitAsAgreed(p, received);
  if (outcome === 'notYet') return [];
  if (typeof outcome === 'string') {
    return [{ type: 'PaymentBounced', data: { code: outcome, received: received.toString(), bouncedAt: now } }];
  }
  return [funded(p, payins, received, outcome, now)];
}

export const routeOf = (p: Pick<Payment, 'terms'>): RouteDecimals => ({
  source: p.terms.source.token.decimals,
  destination: p.terms.destination.token.decimals,
});

/** Payins add up; what is over the agreed amount is held and refundable. */
function splitAsAgreed(p: Payment, received: bigint): Outcome {
  const sourceAmount = BigInt(p.terms.source.amount ?? 0);
  const payout = BigInt(p.terms.destination.amount ?? 0);
  const fee = BigInt(p.terms.fee.amount ?? 0);
  assert(sourceAmount > 0n && payout > 0n, 'an agreed payment has both amounts');
  if (received < sourceAmount) return 'notYet';
  const excess = received - sourceAmount;
  return { rule: excess > 0n ? 'overpaid' : 'agreed', sourceAmount, fee, payout, excess, dust: 0n };
}

/** Too little may still be added to until the payment expires: a stranger's dust must not end it. */
function splitWhatCame(p: Payment, payins: readonly Payin[], received: bigint): Outcome {
  const { limits, fee } = p.terms;
  if (limits && received < BigInt(limits.min)) return calledByItsSender(p, payins) ? 'amountTooLow' : 'notYet';
  if (limits && received > BigInt(limits.max)) return 'amountTooHigh';
  const split = splitAny(received, { fixed: BigInt(fee.fixed), basisPoints: fee.basisPoints }, routeOf(p));
  return split ? { ...split, rule: 'anyAmount', sourceAmount: received } : 'notYet';
}

/** A contract's limits hold for each call. Its sender has signed the call, so that nobody else can end the payment by it. */
const calledByItsSender = ({ terms: { intent, source } }: Payment, payins: readonly Payin[]): boolean =>
  intent !== null && payins.some(({ transfer }) => transfer.from === source.senderAddress);

function funded(
  p: Payment,
  payins: readonly Payin[],
  received: bigint,
  split: Exclude<Outcome, string>,
  now: Instant,
): PaymentEvent {
  const { rule, sourceAmount, fee, excess, dust, payout } = split;
  const route = routeOf(p);
  const paidOut = rescale(payout, route.destination, route.source);
  assert(paidOut + fee + excess + dust === received, 'received = payout + fee + excess + dust');
  assert(excess >= 0n && dust >= 0n && fee >= 0n && payout > 0n, 'no part of a split is negative');
  return {
    type: 'PaymentFunded',
    data: {
      rule,
      transferIds: payins.map((payin) => payin.id),
      received: received.toString(),
      sourceAmount: sourceAmount.toString(),
      fee: fee.toString(),
      excess: excess.toString(),
      dust: dust.toString(),
      payout: payout.toString(),
      fundedAt: now,
    },
  };
}
