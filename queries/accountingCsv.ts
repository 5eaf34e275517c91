/** Accounting lines as CSV: with all columns, or with those of the bank imports of QuickBooks, Xero and DATEV. */
import type { AccountingKind, AccountingLine } from './accounting.ts';
import type { FiatRates } from './fiat.ts';
import { roundedTo } from './monthlyReport.ts';
import { csvCell, csvLine } from './paymentsCsv.ts';

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
