/** An app's payments as a spreadsheet table. Read page by page: a million rows need no more memory than five hundred. */
import { chainOf } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { PaymentView, RefundView } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { type FindFilter, pageOfIds } from './findPayments.ts';
import { listPayments, type PaymentFilter } from './payments.ts';
import { periodAt, type StatsPeriod } from './reports.ts';

/** CSV (RFC 4180) in which no spreadsheet finds formulas: texts may come from strangers. */

/**
 * Positions where a spreadsheet may begin a cell: its start, and after a character that some spreadsheets use as a separator, ignoring
 * white space. These characters begin a formula there (OWASP, CSV injection); an apostrophe before them marks the cell as text.
 */
const formula = /^(?=\s*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[,;|\t\r\n"])(?=\s*[=+\-@＝＋－＠])/g;

/** A number computed by this program: it is no formula, whatever its sign. */
export interface Figure {
  readonly figure: string;
}

export function csvCell(content: string | Figure | null): string {
  if (content === null) return '""';
  if (typeof content !== 'string' && plainNumber.test(content.figure)) return `"${content.figure}"`;
  const text = typeof content === 'string' ? content : content.figure;
  return `"${text.replace(formula, "'").replaceAll('"', '""')}"`;
}

const plainNumber = /^-?\d+(\.\d+)?$/;

/** Null is an empty cell. All cells are quoted. */
export const csvLine = (cells: readonly (string | Figure | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** Rows to export: payments paid out in a period, which add up to its statistics; or the payments of a filtered list. */
export type CsvFilter =
  | { readonly appId: string; readonly period: StatsPeriod }
  | (Omit<PaymentFilter, 'limit' | 'cursor'> & { readonly period?: never; readonly find?: never })
  /** As the list of the dashboard finds them. */
  | { readonly appId: string; readonly find: Omit<FindFilter, 'appId'>; readonly period?: never };

type Listed = Exclude<CsvFilter, { readonly period: StatsPeriod }>;

const pageRows = 500;

/** Lines of CSV (RFC 4180), header first; each chunk has the rows of a page. @throws Unavailable */
export async function* paymentsCsv(sql: Sql, filter: CsvFilter, now: Instant): AsyncGenerator<string> {
  const pages = filter.period === undefined ? listed(sql, filter) : paidOut(sql, filter.appId, filter.period, now);
  let head = csvLine(columns.map(([name]) => name));
  for await (const payments of pages) {
    const rows = payments.map((payment) => csvLine(columns.map(([, of]) => of(payment))));
    yield head + rows.join('');
    head = '';
  }
}

/** In the order of the list. */
async function* listed(sql: Sql, filter: Listed): AsyncGenerator<readonly PaymentView[]> {
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const asked = { limit: pageRows, ...(cursor !== undefined && { cursor }) };
    const found =
      filter.find === undefined
        ? await listPayments(sql, { ...filter, ...asked })
        : await pageOfIds(sql, { ...filter.find, appId: filter.appId }, asked);
    const page = ownCursor(found);
    yield page.payments;
    cursor = page.nextCursor;
  }
}

function ownCursor<T>(page: T | Refusal): T {
  if (isRefusal(page)) throw new Error(`a list refused its own cursor: ${page.message}`);
  return page;
}

/** Oldest payout first. */
async function* paidOut(
  sql: Sql,
  appId: string,
  period: StatsPeriod,
  now: Instant,
): AsyncGenerator<readonly PaymentView[]> {
  const { from, until } = periodAt(period, now);
  let last: Pick<PaymentRow, 'payout_confirmed_at' | 'payment_id'> = { payout_confirmed_at: from, payment_id: '' };
  for (let full = true; full; ) {
    const rows: readonly PaymentRow[] = await sql.query(
      `SELECT * FROM payments
        WHERE app_id = $1 AND payout_confirmed_at < $2 AND (payout_confirmed_at, payment_id) > ($3::timestamptz, $4)
        ORDER BY payout_confirmed_at, payment_id LIMIT ${pageRows}`,
      [appId, until, last.payout_confirmed_at, last.payment_id],
    );
    yield rows.map(viewOfRow);
    last = rows.at(-1) ?? last;
    full = rows.length === pageRows;
  }
}

/** Amounts are plain decimals and times ISO 8601 UTC, as in the API. */
const columns: readonly (readonly [name: string, of: (payment: PaymentView) => string | Figure | null])[] = [
  ['payment_id', (p) => p.paymentId],
  ['order_id', (p) => p.orderId],
  ['status', (p) => p.status],
  ['error_code', (p) => p.errorCode],
  ['type', (p) => p.type],
  ['created_without_key', (p) => (p.keyless ? 'yes' : 'no')],
  ['title', (p) => p.title],
  ['created_at', (p) => p.createdAt],
  ['payin_seen_at', (p) => p.payinSeenAt],
  ['payin_confirmed_at', (p) => p.payinConfirmedAt],
  ['payout_confirmed_at', (p) => p.payoutConfirmedAt],
  ['source_chain', (p) => chainOf(p.sourceChainId).name],
  ['source_token', (p) => p.sourceTokenSymbol],
  ['source_amount', (p) => p.sourceAmount],
  ['amount_received', (p) => p.amountReceived],
  ['amount_expected', (p) => p.amountExpected],
  ['amount_came', (p) => p.amountCame],
  ['amount_delta', (p) => (p.amountDelta === null ? null : { figure: p.amountDelta })],
  ['fee', (p) => p.sourceFee],
  ['excess', (p) => p.excess],
  ['dust', (p) => p.dust],
  ['refunded', (p) => p.refunded],
  ['refund_network_fees', (p) => ofRefunds(p, ({ networkFee, tokenSymbol }) => `${networkFee} ${tokenSymbol}`)],
  ['refund_tx_hashes', (p) => ofRefunds(p, ({ txHash }) => txHash)],
  ['destination_chain', (p) => chainOf(p.destinationChainId).name],
  ['destination_token', (p) => p.destinationTokenSymbol],
  ['destination_amount', (p) => p.destinationAmount],
  ['sender_address', (p) => p.senderAddress],
  ['receiver_address', (p) => p.receiverAddress],
  ['receiver_memo', (p) => p.receiverMemo],
  ['payin_tx_hash', (p) => p.payinTxHash],
  ['payout_tx_hash', (p) => p.payoutTxHash],
  ['cancelled_at', (p) => p.cancelledAt],
  ['note', (p) => p.note],
  ['tags', (p) => p.tags?.join(' ') ?? null],
];

/** Values of the refunds, separated; null without refunds. */
function ofRefunds({ refunds }: PaymentView, tell: (refund: RefundView) => string | null): string | null {
  const told = refunds.flatMap((refund) => tell(refund) ?? []);
  return told.length > 0 ? told.join(' ') : null;
}
