/** An app's sales, withdrawn cashback and refunds of a period, for its books. Read page by page: a million lines need no more memory than five hundred. */
import { type ChainId, chainOf } from '../domain/chains.ts';
import type { PaymentView } from '../domain/payment/view.ts';
import { day_ms, type Instant, plus } from '../domain/time.ts';
import { type PaymentRow, viewOfRow } from '../projections/payments.ts';
import type { Sql } from '../projections/sql.ts';
import { exactSum, roundedTo } from './monthlyReport.ts';
import { csvCell, csvLine } from './paymentsCsv.ts';

/**
 * sale: paid out to the app. withdrawal: credit of buyers, received earlier, was paid out to the app. fundedRefund: the app paid a payer back
 * by a payment of its own. heldRefund: the service refunded money that it held, which was never the app's: gross, fee and net are zero.
 */
type AccountingKind = 'sale' | 'withdrawal' | 'fundedRefund' | 'heldRefund';

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

// Accounting lines as CSV: with all columns, or with those of the bank imports of QuickBooks, Xero and DATEV.

export const accountingForms = ['full', 'quickbooks', 'xero', 'datev'] as const;
export type AccountingForm = (typeof accountingForms)[number];

export interface AccountingCsv {
  readonly form: AccountingForm;
  /** Adds amounts in another currency; null for dollars alone. */
  readonly fiat: { readonly currency: string; readonly rates: FiatRates } | null;
}

/** @returns the lines of the file, header first; a chunk for each page */
export async function* accountingCsv(
  pages: AsyncIterable<readonly AccountingLine[]>,
  asked: AccountingCsv,
): AsyncGenerator<string> {
  const { head, linesOf } = writers[asked.form];
  yield head(asked);
  for await (const page of pages) {
    const text = page.map((line) => linesOf(line, asked)).join('');
    if (text !== '') yield text;
  }
}

interface Writer {
  readonly head: (asked: AccountingCsv) => string;
  readonly linesOf: (line: AccountingLine, asked: AccountingCsv) => string;
}

const figure = (text: string) => ({ figure: text });
const places = 2;

/** Rate of the line's day, in units of the currency for one dollar; null without one. */
const rateOf = ({ at }: AccountingLine, { fiat }: AccountingCsv): string | null =>
  fiat === null ? null : fiat.rates.on(fiat.currency, at.slice(0, 10));

/** Exact product of an amount with at most 18 decimals and a rate with at most 12, rounded to cents. */
export function converted(amount: string, rate: string): string {
  const [sign, value] = amount.startsWith('-') ? ['-', amount.slice(1)] : ['', amount];
  const [a, b] = [scaledOf(value), scaledOf(rate)];
  const product = (a.units * b.units).toString().padStart(a.scale + b.scale + 1, '0');
  const scale = a.scale + b.scale;
  return roundedTo(`${sign}${scale === 0 ? product : `${product.slice(0, -scale)}.${product.slice(-scale)}`}`, places);
}

function scaledOf(text: string): { readonly units: bigint; readonly scale: number } {
  const [whole = '0', fraction = ''] = text.split('.');
  return { units: BigInt(whole + fraction), scale: fraction.length };
}

const kinds: Readonly<Record<AccountingKind, string>> = {
  sale: 'sale',
  withdrawal: 'cashback withdrawal',
  fundedRefund: 'refund',
  heldRefund: 'refund of held money',
};

const columns: readonly string[] = [
  ...['date', 'time_utc', 'kind', 'payment_id', 'refund_of', 'order_id', 'title', 'token', 'chain'],
  ...['gross_usd', 'fee_usd', 'net_usd', 'refund_usd', 'tx_hash'],
];
const fiatColumns: readonly string[] = ['currency', 'rate', 'gross', 'fee', 'net', 'refund'];

const full: Writer = {
  head: ({ fiat }) => csvLine([...columns, ...(fiat ? fiatColumns : [])]),
  linesOf(line, asked) {
    const { at, kind, paymentId, refundOf, orderId, title, tokenSymbol, chain, gross, fee, net, refund, txHash } = line;
    const amounts = [gross, fee, net, refund];
    const rate = rateOf(line, asked);
    const inFiat = amounts.map((amount) => (rate === null ? null : figure(converted(amount, rate))));
    return csvLine([
      ...[at.slice(0, 10), at.slice(11, 19), kinds[kind], paymentId, refundOf, orderId, title, tokenSymbol, chain],
      ...[...amounts.map(figure), txHash],
      ...(asked.fiat ? [asked.fiat.currency, rate === null ? null : figure(rate), ...inFiat] : []),
    ]);
  },
};

/** One movement of the app's balance. Money that the service only held never enters it. */
interface Booking {
  readonly amount: string;
  readonly text: string;
}

/** The sum of the bookings is the line's net amount. */
export function bookingsOf({
  kind,
  gross,
  fee,
  refund,
  orderId,
  title,
  paymentId,
}: AccountingLine): readonly Booking[] {
  if (kind === 'heldRefund') return [];
  const name = [orderId, title].filter((part) => part !== null).join(' · ') || paymentId;
  const all: readonly Booking[] = [
    { amount: gross, text: `${kind === 'withdrawal' ? 'Cashback' : 'Sale'} ${name}` },
    { amount: `-${refund}`, text: name.startsWith('Refund') ? name : `Refund ${name}` },
    { amount: `-${fee}`, text: `Fee ${name}` },
  ];
  return all.filter(({ amount }) => /[1-9]/.test(amount));
}

/** In the chosen currency; null if it has no rate for the day. */
const amountOf = (amount: string, line: AccountingLine, asked: AccountingCsv): string | null => {
  if (asked.fiat === null) return roundedTo(amount, places);
  const rate = rateOf(line, asked);
  return rate === null ? null : converted(amount, rate);
};

/** QuickBooks Online, bank upload with three columns. */
const quickbooks: Writer = {
  head: () => csvLine(['Date', 'Description', 'Amount']),
  linesOf: (line, asked) =>
    bookingsOf(line)
      .map(({ amount, text }) => {
        const value = amountOf(amount, line, asked);
        const [year, month, day] = line.at.slice(0, 10).split('-');
        return csvLine([`${month}/${day}/${year}`, text, value === null ? null : figure(value)]);
      })
      .join(''),
};

/** Xero, bank statement import. */
const xero: Writer = {
  head: () => csvLine(['*Date', '*Amount', 'Payee', 'Description', 'Reference']),
  linesOf: (line, asked) =>
    bookingsOf(line)
      .map(({ amount, text }) => {
        const value = amountOf(amount, line, asked);
        return csvLine([line.at.slice(0, 10), value === null ? null : figure(value), null, text, line.paymentId]);
      })
      .join(''),
};

/** Lengths of DATEV's fields. */
const datevMax = { document: 36, text: 60 } as const;

const datevColumns: readonly string[] = [
  ...[
    'Umsatz (ohne Soll/Haben-Kz)',
    'Soll/Haben-Kennzeichen',
    'WKZ Umsatz',
    'Kurs',
    'Basis-Umsatz',
    'WKZ Basis-Umsatz',
  ],
  ...['Konto', 'Gegenkonto (ohne BU-Schlüssel)', 'BU-Schlüssel', 'Belegdatum', 'Belegfeld 1', 'Buchungstext'],
];

/** DATEV, ASCII import: semicolons, decimal commas, positive amounts with S (debit) or H (credit). Accounts stay empty for the accountant. */
const datev: Writer = {
  head: () => `${datevColumns.map((name) => csvCell(name)).join(';')}\r\n`,
  linesOf: (line, asked) =>
    bookingsOf(line)
      .map(({ amount, text }) => {
        const rate = rateOf(line, asked);
        const value = roundedTo(amount, places);
        const base = rate === null ? null : converted(amount, rate);
        const cells = [
          ...[german(value), csvCell(value.startsWith('-') ? 'H' : 'S'), csvCell('USD')],
          ...[rate === null ? '' : german(rate), base === null ? '' : german(base)],
          ...[csvCell(base === null ? '' : (asked.fiat?.currency ?? '')), '', '', ''],
          ...[`${line.at.slice(8, 10)}${line.at.slice(5, 7)}`, csvCell(line.paymentId.slice(0, datevMax.document))],
          csvCell([...text].slice(0, datevMax.text).join('')),
        ];
        return `${cells.join(';')}\r\n`;
      })
      .join(''),
};

const german = (text: string): string => text.replace(/^-/, '').replace('.', ',');

const writers: Readonly<Record<AccountingForm, Writer>> = { full, quickbooks, xero, datev };

// Daily rates of currencies, as an operator's file has them: lines of `2026-11-29,EUR,0.8631`, units of the currency
// for one dollar.

export interface FiatRates {
  /** In the order of the alphabet. */
  readonly currencies: readonly string[];
  /** Rate of the day, or of the last day before it within a week: banks set none at weekends. Null without one. */
  on(currency: string, day: string): string | null;
}

export const fiatLimits = { bytes: 4_000_000, lines: 100_000, daysBack: 7 } as const;

const line = /^(\d{4}-\d{2}-\d{2}),([A-Z]{3}),(\d{1,9}(?:\.\d{1,12})?)$/;

/** Reads the file; a header and empty lines are skipped. @throws RangeError with the number of a wrong line */
export function readFiatRates(text: string): FiatRates {
  const lines = text.split(/\r?\n/);
  if (lines.length > fiatLimits.lines) throw new RangeError(`has more than ${fiatLimits.lines} lines`);
  const rates = new Map<string, string>();
  const currencies = new Set<string>();
  for (const [index, each] of lines.entries()) {
    if (each.trim() === '' || (index === 0 && !/\d/.test(each))) continue;
    const [, day = '', currency = '', rate = ''] = line.exec(each.trim()) ?? [];
    if (rate === '' || !/[1-9]/.test(rate)) throw new RangeError(`line ${index + 1} is no day, currency and rate`);
    rates.set(`${currency} ${day}`, rate);
    currencies.add(currency);
  }
  if (rates.size === 0) throw new RangeError('has no rates');
  return {
    currencies: [...currencies].sort(),
    on(currency, day) {
      for (let back = 0; back <= fiatLimits.daysBack; back += 1) {
        const rate = rates.get(`${currency} ${dayBefore(day, back)}`);
        if (rate !== undefined) return rate;
      }
      return null;
    },
  };
}

const dayBefore = (day: string, days: number): string =>
  plus(`${day}T00:00:00.000Z` as Instant, -days * day_ms).slice(0, 10);
