import type { ChainFamily } from '../domain/chains.ts';
import { convertUp, formatAmount, usDollar } from '../domain/money.ts';
import { payinAddressesOf } from '../domain/payment/payins.ts';
import { familyOf, type Payin, type Source } from '../domain/payment/sources.ts';
import type { Payment, PaymentState } from '../domain/payment/state.ts';
import { type PaymentTransaction, transactionsOf } from '../domain/payment/transactions.ts';
import { type PaymentView, viewOf } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { ofStates, remove, upsert } from './projection.ts';

/** One row per payment: its public view, one column per field, and the stream's revision. */
export const payments = ofStates('payments', 'payment', ({ after, stored }) => [
  upsert('payments', rowOfView(viewOf(after, stored.metadata.at), stored.revision)),
]);

/** `source_chain_id` of `sourceChainId`. */
type ColumnOf<Field extends string> = Field extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${ColumnOf<Rest>}`
  : '';

/** @typeParam Revision text when written, bigint when Postgres returns it */
export type PaymentRow<Revision = bigint> = {
  readonly [Field in keyof PaymentView as ColumnOf<Field>]: PaymentView[Field];
} & {
  /** Revision of the last event in the row. */
  readonly revision: Revision;
};

const columns = new Map<string, string>();
const fields = new Map<string, string>();

function rowOfView(view: PaymentView, revision: bigint): PaymentRow<string> {
  const row = renamed(view, columns, (field) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return { ...row, revision: revision.toString() } as unknown as PaymentRow<string>;
}

export function viewOfRow({ revision: _, ...row }: PaymentRow): PaymentView {
  return renamed(row, fields, (column) =>
    column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  ) as unknown as PaymentView;
}

/** @param known names converted so far: names are few and rows are many */
function renamed(values: object, known: Map<string, string>, spell: (name: string) => string): object {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const spelt = known.get(name) ?? spell(name);
    known.set(name, spelt);
    result[spelt] = value;
  }
  return result;
}

/** Payment of an address, or of an address with a memo. Kept for ever; an EVM address is found for a payment on any EVM chain. */
export const deposits = ofStates('deposits', 'payment', ({ before, after }) => {
  if (before?.deposits === after.deposits) return [];
  const { paymentId, appId, expiresAt } = after.terms;
  return Object.entries(after.deposits).flatMap(([family, deposit]) => {
    const source = sourceIn(after, family as ChainFamily);
    if (!source || before?.deposits[family as ChainFamily]) return [];
    const facts = {
      payment_id: paymentId,
      app_id: appId,
      chain_id: source.chainId,
      token_address: source.token.address,
      expires_at: expiresAt,
      agreed_usd: agreedUsd(after),
    };
    return payinAddressesOf(deposit).map((place) => upsert('deposits', { ...place, ...facts }));
  });
});

const sourceIn = ({ sources }: Payment, family: ChainFamily): Source | undefined =>
  sources.find((source) => familyOf(source) === family);

/** Agreed source amount in whole tokens, rounded up, of the most expensive source; null if any amount is accepted. */
export function agreedUsd({ sources }: Payment): string | null {
  const whole = sources.flatMap(({ amount, token }) =>
    amount === null ? [] : [convertUp(BigInt(amount), token, usDollar)],
  );
  const [most] = whole.sort((a, b) => Number(b - a));
  return most?.toString() ?? null;
}

/** Every transfer to a deposit with phase and standing, found by block once a block is final or orphaned. */
export const payins = ofStates('payins', 'payment', ({ before, after }) => {
  if (before?.payins === after.payins) return [];
  const changed = after.payins.filter((payin) => !before?.payins.includes(payin));
  return changed.map((payin) => upsert('payins', rowOf(after, payin)));
});

const rowOf = (payment: Payment, { id, transfer, amount, standing, phase }: Payin) => ({
  transfer_id: id,
  payment_id: payment.terms.paymentId,
  app_id: payment.terms.appId,
  chain_id: transfer.chainId,
  tx_hash: transfer.txHash,
  index: transfer.index,
  block_number: transfer.blockNumber,
  block_hash: transfer.blockHash,
  block_time: transfer.blockTime,
  token_symbol: transfer.token.symbol,
  token_address: transfer.token.address,
  from_address: transfer.from,
  to_address: transfer.to,
  amount: formatAmount(amount, transfer.token.decimals),
  agreed_usd: agreedUsd(payment),
  phase,
  standing,
});

/** Each payment's transfers on its chains, for the API and for analysts. */
export const transactions = ofStates('transactions', 'payment', ({ before, after }) => {
  if (before?.payins === after.payins && before.payout === after.payout && before.refunds === after.refunds) return [];
  const known = new Set(rowsOf(before).map((row) => JSON.stringify(row)));
  const changed = rowsOf(after).filter((row) => !known.has(JSON.stringify(row)));
  return changed.map((row) => upsert('transactions', inColumns(after, row)));
});

const rowsOf = (payment: PaymentState): readonly PaymentTransaction[] => (payment ? transactionsOf(payment) : []);

const inColumns = ({ terms }: Payment, row: PaymentTransaction) => ({
  payment_id: terms.paymentId,
  app_id: terms.appId,
  kind: row.kind,
  chain_id: row.chainId,
  tx_hash: row.txHash,
  index: row.index,
  status: row.status,
  standing: row.standing,
  token_symbol: row.tokenSymbol,
  token_address: row.tokenAddress,
  amount: row.amount,
  from_address: row.fromAddress,
  to_address: row.toAddress,
  block_number: row.blockNumber,
  block_hash: row.blockHash,
  at: row.at,
});

// Words that find a payment. A search reads one range of the table's key, so it costs the same with a million
// payments.

/** Beginnings of a title that are kept: a title is found by any of its first words. */
const titleWords = 4;
/** Transactions of a payment that it is found by. */
const hashesMax = 20;

export const paymentWords = ofStates('paymentWords', 'payment', ({ before, after }) => {
  const { appId: app_id, paymentId: payment_id } = after.terms;
  const [was, is] = [wordsOf(before), wordsOf(after)];
  return [
    ...[...is].filter((word) => !was.has(word)).map((word) => upsert('payment_words', { app_id, word, payment_id })),
    ...[...was].filter((word) => !is.has(word)).map((word) => remove('payment_words', { app_id, word, payment_id })),
  ];
});

const noTime = '' as Instant;

function wordsOf(payment: PaymentState): ReadonlySet<string> {
  if (!payment) return new Set();
  const view = viewOf(payment, noTime);
  const texts = [
    view.paymentId,
    view.orderId,
    ...beginnings(view.title),
    ...addressesOf(payment),
    ...hashesOf(payment),
  ];
  const amounts = [view.sourceAmount, view.amountReceived, view.amountCame, view.destinationAmount].filter(
    (amount) => amount !== null && Number(amount) > 0,
  );
  return new Set([
    ...texts.flatMap((text) => (text === null ? [] : searchWord(text))).filter((word) => word !== ''),
    ...amounts.map((amount) => amountWord(amount ?? '')),
    ...(view.tags ?? []).map(tagWord),
  ]);
}

/** `Two pounds of tea`, `pounds of tea`, … */
function beginnings(title: string | null): readonly string[] {
  const words = (title ?? '').split(/\s+/).filter((word) => word !== '');
  return words.slice(0, titleWords).map((_, place) => words.slice(place).join(' '));
}

/** Where it is paid to, and from. The receiver of a merchant's payments is one wallet, by which nothing is found. */
const addressesOf = ({ terms, deposits, payins }: Payment): readonly string[] => [
  ...Object.values(deposits).flatMap(({ address, memo }) => [...(memo === null ? [address] : [memo])]),
  ...(terms.appId.startsWith('wallet_') ? [terms.destination.receiverAddress] : []),
  ...payins.slice(0, hashesMax).map(({ transfer }) => transfer.from),
];

function hashesOf({ payins, payout, refunds, registered }: Payment): readonly string[] {
  const legs = [...(payout ? [payout] : []), ...refunds].flatMap(({ attempts }) =>
    attempts.map(({ signed }) => signed.hash),
  );
  return [
    ...(registered ? [registered.txHash] : []),
    ...payins.slice(0, hashesMax).map(({ transfer }) => transfer.txHash),
    ...legs.slice(-hashesMax),
  ];
}

// Spelling of the words by which payments are found, the same in the read model and in a search.

/** Characters of a word that are kept and compared. */
const wordMax = 64;
/** Texts as they are compared: in lower case, with single spaces, cut. */
export const searchWord = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('\0', '\ufffd')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, wordMax)
    .toWellFormed();

/** `12.5` and `12.50` are one amount. @param decimal without a sign */
export function amountWord(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return `$${whole.replace(/^0+(?=\d)/, '')}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

const tagWord = (tag: string): string => `#${searchWord(tag)}`;
