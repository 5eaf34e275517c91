/** Words that find a payment. A search reads one range of the table's key, so it costs the same with a million payments. */
import { amountWord, searchWord, tagWord } from '../domain/payment/searchWords.ts';
import type { Payment, PaymentState } from '../domain/payment/state.ts';
import { viewOf } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { ofStates, remove, upsert } from './projection.ts';

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
