/** The state of a payment for its app's people: received money against the amount due, and held money. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import { chip, chipStateOf, type State, wordOf } from './boxes.ts';
import { amountText, grouped } from './cells.ts';
import { sayText } from './say.ts';

/** The state by the payment's money, not by its status alone. */
export function stateWord(payment: PaymentView): readonly [State, string] {
  const { status, missing, held, cancelledAt, amountReceived, refunds } = payment;
  if (status === 'payment_started' && missing !== null)
    return [
      'bad',
      sayText('receivedOf', { received: grouped(amountReceived ?? '0.00'), due: grouped(dueOf(payment) ?? '0.00') }),
    ];
  if ((status === 'payment_unpaid' || status === 'payment_expired') && held !== null)
    return ['bad', sayText('otherMoneyHeld')];
  if (status === 'payment_unpaid' && cancelledAt !== null) return ['wait', sayText('beingCancelled')];
  if (status === 'payment_expired' && cancelledAt !== null) return ['idle', sayText('cancelled')];
  if (status === 'payment_bounced' && held === null && refunds.length > 0) return ['wait', sayText('beingRefunded')];
  return [chipStateOf(status), wordOf(status)];
}

export const paymentChip = (payment: PaymentView): VNode => chip(...stateWord(payment));

/** Amount that the payer was asked for; null if any amount is accepted. */
export const dueOf = ({ amountExpected, sourceAmount, type }: PaymentView): string | null =>
  amountExpected ?? (type === 'anyAmount' ? null : sourceAmount);

/** All received money, each amount with its own token; empty while there is none. */
export function cameOf({ amountCame, sourceTokenSymbol, sourceChainId, held }: PaymentView): readonly string[] {
  const own = Number(amountCame) > 0 ? [amountText(amountCame, sourceTokenSymbol)] : [];
  const others = (held ?? []).filter(
    ({ tokenSymbol, chainId }) => tokenSymbol !== sourceTokenSymbol || chainId !== sourceChainId,
  );
  return [...own, ...others.map(({ amount, tokenSymbol }) => amountText(amount, tokenSymbol))];
}
