/** Cells of tables: amounts, times, addresses and links to explorers, and the words that several pages share. */
import type { VNode } from 'preact';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { roleNames, type TeamRole, teamRoles } from '../../domain/merchant/roles.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import type { Mode } from './frame.ts';
import { type Content, cut, html } from './html.ts';
import { icon } from './icon.ts';
import { directionMarks } from './language.ts';
import { isRightToLeft, type PlainName, pageLanguage, pageLocale, sayContent, sayText } from './say.ts';

/** `16420.18` for people: `16,420.18`. */
export function grouped(decimal: string): string {
  if (pageLanguage() !== 'en' && isDecimal.test(decimal)) return localized(decimal);
  const [whole = '', fraction] = decimal.split('.');
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}

const isDecimal = /^-?\d+(\.\d+)?$/;

/** In the language's format, with every digit: the formatter reads the text exactly. */
function localized(decimal: string): string {
  const digits = decimal.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(pageLocale(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return format.format(decimal as `${number}`).replaceAll(directionMarks, '');
}

/** `1 payment`, `1,204 payments`: English, for pages that are not translated. */
export const countWords = (count: number, thing: string): string =>
  `${grouped(String(count))} ${thing}${count === 1 ? '' : 's'}`;

/** Money reads from left to right in every language. */
export const amount = (decimal: string | null, symbol: string): VNode =>
  html`<span class="money" dir="ltr">${decimal === null ? sayContent('any') : html`<b>${grouped(decimal)}</b>`} <small>${symbol}
    </small></span>`;

/** For a sentence: `10.00 USDC`. */
export const amountText = (decimal: string | null, symbol: string): string =>
  decimal === null ? sayText('anyAmountOf', { symbol }) : `${grouped(decimal)} ${symbol}`;

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `57.1 %`, in the language's format. */
export const percentText = (decimal: string): string =>
  pageLanguage() === 'en'
    ? `${grouped(decimal)} %`
    : new Intl.NumberFormat(pageLocale(), { style: 'unit', unit: 'percent', minimumFractionDigits: 1 })
        .format(decimal as `${number}`)
        .replaceAll(directionMarks, '');

/** `2026-11-02…` as `2 Nov`. */
export const dayText = (date: string): string =>
  pageLanguage() === 'en'
    ? `${Number(date.slice(8, 10))} ${months[Number(date.slice(5, 7)) - 1]}`
    : dateIn({ day: 'numeric', month: 'short' }, date);

/** @param date its first ten characters are a day in UTC */
export const dateIn = (form: Intl.DateTimeFormatOptions, date: string): string =>
  new Intl.DateTimeFormat(pageLocale(), { ...form, timeZone: 'UTC' })
    .format(new Date(date.slice(0, 10)))
    .replaceAll(directionMarks, '');

/** In UTC, labelled; a script (client/localTime.js) replaces it with the reader's own time. */
export const when = (at: Instant): VNode =>
  html`<time datetime=${at} data-local="minutes">${dayText(at)}, ${at.slice(11, 16)} UTC</time>`;

/** An hour that the service rounded a time to, as `26 Nov, 12:00 UTC – 13:00 UTC`. @param from its beginning */
export const hourFrom = (from: Instant): VNode => {
  const until = plus(from, hour_ms);
  return html`<span>${when(from)} – <time datetime=${until} data-local="clock">${until.slice(11, 16)} UTC</time></span>`;
};

/** To the millisecond, for the entries of a history. */
export const exactly = (at: Instant): VNode =>
  html`<time datetime=${at} data-local="exactly">${dayText(at)}, ${at.slice(11, 23)} UTC</time>`;

export const onDay = (at: Instant): VNode =>
  html`<time datetime=${at} data-local="day">${
    pageLanguage() === 'en'
      ? `${dayText(at)} ${at.slice(0, 4)}`
      : dateIn({ day: 'numeric', month: 'short', year: 'numeric' }, at)
  }</time>`;

/** `24 s`, `3 min`, `2 h`, `5 days`: one unit, rounded up, so that no promise is too early. */
export function lengthText(duration_ms: number): string {
  if (duration_ms < 1_000) return lengthIn(Math.max(0, Math.ceil(duration_ms)), 'millisecond', 'ms');
  if (duration_ms <= 99_000) return lengthIn(Math.ceil(duration_ms / 1_000), 'second', 's');
  if (duration_ms <= 99 * minute_ms) return lengthIn(Math.ceil(duration_ms / minute_ms), 'minute', 'min');
  const hours = Math.ceil(duration_ms / hour_ms);
  return hours <= 48 ? lengthIn(hours, 'hour', 'h') : lengthIn(Math.ceil(hours / 24), 'day', 'days');
}

/** A unit in the language's short form. @param unit of Intl @param inEnglish after a space */
export const lengthIn = (count: number, unit: string, inEnglish: string): string =>
  pageLanguage() === 'en'
    ? `${count} ${inEnglish}`
    : new Intl.NumberFormat(pageLocale(), { style: 'unit', unit, unitDisplay: unit === 'day' ? 'long' : 'short' })
        .format(count)
        .replaceAll(directionMarks, '');

export const between = (from: Instant, to: Instant): number => epochMs(to) - epochMs(from);

/** People compare the ends of long ids. */
const ends = 4;

/** The whole address with its first and last four characters emphasised, which people compare. */
export function address(text: string): VNode {
  const [start, end] = endsOf(text);
  if (text.length <= 3 * ends) return html`<span class="mono" dir="ltr">${text}</span>`;
  return html`<span class="mono" dir="ltr"><b>${start}</b>${text.slice(start.length, -end.length)}<b>${end}</b></span>`;
}

/** `0x4f1a…8f21`, with the full address as a tooltip. */
export const shortAddress = (text: string): VNode =>
  html`<span class="mono" dir="ltr" title=${text}>${shortText(text)}</span>`;

export function shortText(text: string): string {
  const [start, end] = endsOf(text);
  return text.length <= start.length + end.length + 1 ? text : `${start}…${end}`;
}

/** The hexadecimal prefix is not compared. */
const endsOf = (text: string): readonly [start: string, end: string] => [
  text.slice(0, text.startsWith('0x') ? ends + 2 : ends),
  text.slice(-ends),
];

/** A word of a program within a sentence. */
export const codeWord = (text: string): VNode => html`<code dir=${isRightToLeft() ? 'ltr' : undefined}>${text}</code>`;

/** Explorer URLs of each chain, and of its test network. */
const explorers: Readonly<Record<ChainId, readonly [live: string, test: string]>> = {
  8453: ['https://basescan.org/tx/*', 'https://sepolia.basescan.org/tx/*'],
  56: ['https://bscscan.com/tx/*', 'https://testnet.bscscan.com/tx/*'],
  1: ['https://etherscan.io/tx/*', 'https://sepolia.etherscan.io/tx/*'],
  42161: ['https://arbiscan.io/tx/*', 'https://sepolia.arbiscan.io/tx/*'],
  137: ['https://polygonscan.com/tx/*', 'https://amoy.polygonscan.com/tx/*'],
  501: ['https://explorer.solana.com/tx/*', 'https://explorer.solana.com/tx/*?cluster=devnet'],
  1500: ['https://stellar.expert/explorer/public/tx/*', 'https://stellar.expert/explorer/testnet/tx/*'],
};

/** Null in a sandbox, whose chains are local. */
export function explorerUrl(mode: Mode, chainId: ChainId, txHash: string): string | null {
  if (mode === 'sandbox') return null;
  return explorers[chainId][mode === 'live' ? 0 : 1].replace('*', encodeURIComponent(txHash));
}

/** A transaction's hash, linked to its explorer if there is one. */
export function transactionLink(mode: Mode, chainId: ChainId, txHash: string): VNode {
  const url = explorerUrl(mode, chainId, txHash);
  const hash = shortText(txHash);
  return url === null
    ? html`<span class="mono" title=${txHash}>${hash}</span>`
    : html`<a class="mono" href=${url} rel="noopener noreferrer" target="_blank" title=${txHash}>${hash}
      ${icon('external')}<span class="visually-hidden"> ${sayContent('opensExplorer')}</span></a>`;
}

/** Page that gives test tokens for test networks. */
const faucetUrl = 'https://faucet.circle.com/';

export const faucetLink = (): VNode => outsideLink(faucetUrl, 'faucet.circle.com');

/** @param url https, checked by the caller */
export const outsideLink = (url: string, text: Content): VNode =>
  html`<a href=${url} rel="noopener noreferrer" target="_blank">${text}${icon('external')}
    <span class="visually-hidden"> ${sayContent('opensOtherSite')}</span></a>`;

export const chainName = (id: number): string => chainOf(id as ChainId).name;

/** Events of webhooks. */
const news: Readonly<Record<Delivery['eventType'], PlainName>> = {
  payment_payin_completed: 'newsArrived',
  payment_payout_completed: 'newsPaidOut',
  payment_held: 'moneyHeld',
  payment_bounced: 'newsBounced',
  payment_expired: 'expired',
  payment_refunded: 'refunded',
  webhook_test: 'newsTest',
};

export const newsOf = (type: Delivery['eventType']): string => sayText(news[type]);

/** Reasons of a missing answer. */
const silences: Readonly<Record<NonNullable<Delivery['error']>, PlainName>> = {
  badUrl: 'silentBadUrl',
  blockedAddress: 'silentBlocked',
  dns: 'silentDns',
  connection: 'silentConnection',
  tls: 'silentTls',
  protocol: 'silentProtocol',
  timeout: 'silentTimeout',
  endpointRemoved: 'silentRemoved',
  unknown: 'silentUnknown',
};

export const silenceOf = (error: NonNullable<Delivery['error']>): string => sayText(silences[error]);

/** Display name of a payment: its order, its title, or the beginning of its id. */
export const paymentName = ({ orderId, title, paymentId }: PaymentView): string =>
  cut(orderId ?? title ?? paymentId.slice(0, 8), 80);

/** Source and destination of the money. */
export const wayOf = ({ sourceChainId, destinationChainId }: PaymentView): string =>
  `${chainName(sourceChainId)} → ${chainName(destinationChainId)}`;

// Names of roles in the language of the page.

const names: Readonly<Record<TeamRole, PlainName>> = {
  owner: 'roleOwner',
  developer: 'roleDeveloper',
  operations: 'roleOperations',
  readOnly: 'roleReadOnly',
};

export const roleName = (role: TeamRole): string => sayText(names[role]);

/** @param english name of a role in English, as sentences of the service have it */
export function roleOfName(english: string): string {
  const role = teamRoles.find((each) => roleNames[each] === english);
  return role === undefined ? english : roleName(role);
}
