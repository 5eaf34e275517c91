/** An app's sales, withdrawn cashback and refunds of a period, for its books. Read page by page: a million lines need no more memory than five hundred. */
import { type ChainId, chainOf } from '../domain/chains.ts';
import type { PaymentView } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { exactSum } from './monthlyReport.ts';

/**
 * sale: paid out to the app. withdrawal: credit of buyers, received earlier, was paid out to the app. fundedRefund: the app paid a payer back
 * by a payment of its own. heldRefund: the service refunded money that it held, which was never the app's: gross, fee and net are zero.
 */
export type AccountingKind = 'sale' | 'withdrawal' | 'fundedRefund' | 'heldRefund';

/** Amounts are decimal texts in dollars: a token counts as one. net = gross - fee - refund, without held refunds. */
export interface AccountingLine {
  /** Time of the confirmed payout or refund. */
  readonly at: Instant;
  readonly kind: AccountingKind;
  readonly paymentId: string;
  /** For a funded refund: the refunded payment. */
  readonly refundOf: string | null;
  readonly orderId: string | null;
  readonly title: string | null;
  readonly tokenSymbol: string;
  readonly chain: string;
  readonly gross: string;
  readonly fee: string;
  readonly net: string;
  readonly refund: string;
  /** Transaction of the payout or refund. */
  readonly txHash: string | null;
}

export interface AccountingPeriod {
  readonly appId: string;
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

const pageRows = 500;

/** Sales, withdrawals and funded refunds by the time of their payouts, then refunds of held money. @throws Unavailable */
export async function* accountingLines(sql: Sql, period: AccountingPeriod): AsyncGenerator<readonly AccountingLine[]> {
  for await (const rows of pagesOf(sql, 'payout_confirmed_at', period)) yield rows.map(paidLine);
  for await (const rows of pagesOf(sql, 'updated_at', period)) yield rows.flatMap((row) => refundLines(row, period));
}

/** A payment changes when its refund is final, so a refund of the period is in a row that changed since the period's start. */
const conditions = {
  payout_confirmed_at: 'payout_confirmed_at < $2',
  updated_at: 'created_at < $2 AND json_array_length(refunds) > 0',
} as const;

type BookedPayment = PaymentView & { readonly isWithdrawal: boolean };

async function* pagesOf(
  sql: Sql,
  by: keyof typeof conditions,
  { appId, from, to }: AccountingPeriod,
): AsyncGenerator<readonly BookedPayment[]> {
  let last: readonly [at: unknown, paymentId: string] = [from, ''];
  for (let full = true; full; ) {
    const rows: readonly (PaymentRow & { readonly is_withdrawal: boolean })[] = await sql.query(
      `SELECT payments.*, EXISTS (SELECT FROM cashback_withdrawals AS w WHERE w.payment_id = payments.payment_id) AS is_withdrawal
         FROM payments
        WHERE app_id = $1 AND ${conditions[by]} AND (${by}, payment_id) > ($3::timestamptz, $4)
        ORDER BY ${by}, payment_id LIMIT ${pageRows}`,
      [appId, to, ...last],
    );
    yield rows.map(({ is_withdrawal: isWithdrawal, ...row }) => ({ ...viewOfRow(row), isWithdrawal }));
    const end = rows.at(-1);
    if (end) last = [end[by], end.payment_id];
    full = rows.length === pageRows;
  }
}

function paidLine(payment: BookedPayment): AccountingLine {
  const { paymentId, refundOf, orderId, title, sourceFee, dust, destinationAmount, payoutTxHash } = payment;
  const fee = exactSum([sourceFee ?? '0', dust ?? '0']);
  const paid = destinationAmount ?? '0';
  const isIncome = refundOf === null;
  return {
    at: payment.payoutConfirmedAt ?? payment.updatedAt,
    kind: isIncome ? (payment.isWithdrawal ? 'withdrawal' : 'sale') : 'fundedRefund',
    ...{ paymentId, refundOf, orderId, title, fee },
    ...placeOf(payment.destinationTokenSymbol, payment.destinationChainId),
    gross: isIncome ? exactSum([paid, fee]) : '0',
    net: isIncome ? exactSum([paid]) : exactSum([`-${paid}`, `-${fee}`]),
    refund: isIncome ? '0' : exactSum([paid]),
    txHash: payoutTxHash,
  };
}

function refundLines(payment: PaymentView, { from, to }: AccountingPeriod): readonly AccountingLine[] {
  const { paymentId, orderId, title } = payment;
  return payment.refunds.flatMap(({ confirmedAt, tokenSymbol, chainId, amount, txHash }) => {
    if (confirmedAt === null || confirmedAt < from || confirmedAt >= to) return [];
    const own = { at: confirmedAt, kind: 'heldRefund', paymentId, refundOf: null, orderId, title, txHash } as const;
    return [{ ...own, ...placeOf(tokenSymbol, chainId), gross: '0', fee: '0', net: '0', refund: exactSum([amount]) }];
  });
}

const placeOf = (tokenSymbol: string, chainId: ChainId) => ({ tokenSymbol, chain: chainOf(chainId).name });
