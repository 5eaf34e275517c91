/** Cashback earned by a completed payment, and payments that pay out cashback. */
import type { Withdrawal } from '../cashback.ts';
import type { Earning } from '../credit.ts';
import { assert, type Decision, isRefusal } from '../decider.ts';
import { convert, unitsText, usCent } from '../money.ts';
import { agree, createPayment, type Terms } from './create.ts';
import type { PaymentEvent } from './events.ts';
import { isSameAsset } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

export const centDecimals = 2;

/**
 * Cashback of each payer of the payment, in proportion to what each paid, rounded down to cents. Empty if the terms promised none, or the
 * payment is not funded.
 */
export function earningsOf({ terms, funded, payins }: Payment): readonly Earning[] {
  const basisPoints = terms.cashback_basisPoints ?? 0;
  if (!funded || basisPoints === 0) return [];
  const { chainId, token } = terms.source;
  const counted = payins.filter(({ id }) => funded.transferIds.includes(id));
  const byPayer = Map.groupBy(counted, ({ transfer }) => transfer.from);
  return [...byPayer].flatMap(([account, paid]) => {
    const part = paid.reduce((sum, { amount }) => sum + amount, 0n);
    const units = (funded.sourceAmount * part * BigInt(basisPoints)) / (funded.received * 10_000n);
    const cents = convert(units, token, usCent);
    return cents > 0n ? [{ account, paymentId: terms.paymentId, appId: terms.appId, chainId, basisPoints, cents }] : [];
  });
}

/**
 * Creates a payment that pays out a merchant's cashback. It begins funded, from the merchant's balance in the treasury, and then continues
 * like any other. Returns `[]` if it exists.
 *
 * @param terms of type exactIn
 */
export function payOutCashback(state: PaymentState, terms: Terms): Decision<PaymentEvent> {
  if (state) return [];
  const created = createPayment(state, terms);
  if (isRefusal(created)) return created;
  const agreed = agree(terms);
  assert(agreed !== null && !isRefusal(agreed), 'what was created is agreed');
  const { source, fee, destination: payout } = agreed;
  const amount = unitsText(source);
  const parts = { fee: unitsText(fee), excess: '0', dust: '0', payout: unitsText(payout) };
  return [
    ...created,
    {
      type: 'PaymentFunded',
      data: {
        rule: 'cashback',
        transferIds: [`cashback:${terms.paymentId}`],
        received: amount,
        sourceAmount: amount,
        ...parts,
        fundedAt: terms.now,
      },
    },
  ];
}

/** Cents that return to the merchant's account because the withdrawal's payment bounced. Null for any other payment. */
export function returnedBy({ funded, closed, terms: { source } }: Payment): bigint | null {
  if (funded?.rule !== 'cashback' || closed?.kind !== 'bounced') return null;
  return convert(funded.received, source.token, usCent);
}

/** True if the payment pays out the withdrawal: to its receiver, in its token, and at most its cents. */
export function paysOut({ terms: { destination }, funded }: Payment, withdrawal: Withdrawal): boolean {
  const { chainId, token, receiverAddress, receiverMemo, cents } = withdrawal;
  return (
    funded !== null &&
    isSameAsset(destination, { chainId, token }) &&
    destination.receiverAddress === receiverAddress &&
    destination.receiverMemo === receiverMemo &&
    funded.payout <= convert(BigInt(cents), usCent, destination.token)
  );
}
