/** Boxes of pages: cards, lists of facts, status chips, notices, and copyable texts. */
import type { VNode } from 'preact';
import type { PaymentStatus, PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { amountText, exactly, grouped } from './cells.ts';
import { copyButton } from './field.ts';
import type { Flash } from './frame.ts';
import { type Content, html } from './html.ts';
import { type IconName, icon } from './icon.ts';
import { type PlainName, sayContent, sayText } from './say.ts';

export interface Heading {
  readonly title: string;
  /** A few words beside the title. */
  readonly note?: Content;
  /** Controls at the line's end. */
  readonly controls?: Content;
  /** Names a part that client/live.js renews. */
  readonly live?: string;
}

/** One subject with its heading. */
export const card = ({ title, note, controls, live }: Heading, content: Content): VNode =>
  html`<section class="card" id=${live} data-live=${live && 'part'}>
    <header><h2>${title}</h2>${note && html`<span class="small muted">${note}</span>`}
    ${controls && html`<div class="controls">${controls}</div>`}</header>
    ${content}
  </section>`;

/** The inside of a card that is text, a form, a list of pairs. */
export const inside = (content: Content): VNode => html`<div class="inside">${content}</div>`;

/** Names and values below each other. */
export const pairs = (rows: readonly (readonly [name: string, value: Content] | null)[]): VNode =>
  html`<dl class="pairs">${rows.map((row) => row && html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>`)}</dl>`;

/** States what the page will list, and how to get the first entry. */
export const empty = (title: string, content: Content, action?: Content): VNode =>
  html`<div class="empty"><p class="title">${title}</p><div>${content}</div>${action}</div>`;

/** ok is final, wait continues automatically, bad needs a person, idle is over. */
export type State = 'ok' | 'wait' | 'bad' | 'idle';

export const shapes: Readonly<Record<State, IconName>> = { ok: 'check', wait: 'clock', bad: 'alert', idle: 'over' };

/** A state by colour, shape and word together. */
export const chip = (state: State, word: string): VNode =>
  html`<span class=${`chip ${state}`}>${icon(shapes[state])}${word}</span>`;

const statuses: Readonly<Record<PaymentStatus, readonly [State, PlainName]>> = {
  payment_unpaid: ['wait', 'unpaid'],
  payment_started: ['wait', 'confirming'],
  payment_payin_completed: ['wait', 'payoutDue'],
  payment_bridging: ['wait', 'payoutDue'],
  payment_payout_started: ['wait', 'payingOut'],
  payment_payout_completed: ['ok', 'completed'],
  payment_completed: ['ok', 'completed'],
  payment_bounced: ['bad', 'moneyHeld'],
  payment_expired: ['idle', 'expired'],
  payment_refunded: ['idle', 'refunded'],
};

const chipStateOf = (status: PaymentStatus): State => statuses[status][0];
export const wordOf = (status: PaymentStatus): string => sayText(statuses[status][1]);
export const statusChip = (status: PaymentStatus): VNode => chip(chipStateOf(status), wordOf(status));

/** Outcome of a webhook. */
export const deliveryChip = ({
  status,
  statusCode,
  error,
}: Pick<Delivery, 'status' | 'statusCode' | 'error'>): VNode => {
  if (status === 'delivered') return chip('ok', sayText('webhookTaken', { code: String(statusCode) }));
  if (error === 'unknown') return chip('wait', sayText('webhookNoAnswerYet'));
  return chip(
    'bad',
    statusCode === null ? sayText('webhookNoAnswer') : sayText('webhookRefused', { code: String(statusCode) }),
  );
};

/** A sentence or two to read first. */
export const notice = (state: State, content: Content): VNode =>
  html`<div class=${`notice ${state}`}>${icon(shapes[state])}<div>${content}</div></div>`;

const states = { done: 'ok', warning: 'wait', problem: 'bad' } as const;

/** Outcome of the last action; announced at once. */
export const flashed = (flash: Flash | null): VNode | null =>
  flash &&
  html`<div class=${`notice ${states[flash.kind]}`} role=${flash.kind === 'problem' ? 'alert' : 'status'}>
    ${icon(shapes[states[flash.kind]])}<div>${flash.text}</div></div>`;

/** A value that is displayed once and never again. */
export const secretOnce = (what: string, value: string, advice: Content): VNode =>
  html`<section class="card secret" aria-labelledby="secret">
    <h2 id="secret">${icon('keys')}${what}</h2>
    <p class="copyable"><code class="mono" tabindex="0">${value}</code>${copyButton(value, what)}</p>
    <p><strong>${sayContent('copyItNow')}</strong> ${advice}</p>
  </section>`;

/** A value to copy elsewhere. */
export const copyable = (content: Content, text: string, what: string): VNode =>
  html`<span class="copyable"><span>${content}</span>${copyButton(text, what)}</span>`;

/** done has happened, now is in progress, next will follow, problem has happened and needs a person. */
export interface StoryStep {
  readonly stage: 'done' | 'now' | 'next' | 'problem';
  readonly title: Content;
  readonly detail?: Content;
  readonly at?: Instant;
}

const spokenStages = (): Readonly<Record<StoryStep['stage'], string>> => ({
  done: sayText('stepDoneSpoken'),
  now: sayText('stepNowSpoken'),
  next: sayText('stepNextSpoken'),
  problem: sayText('stepProblemSpoken'),
});

/** A list of steps for payers and merchants. @param spoken text for screen readers before each step */
export const steps = (
  list: readonly StoryStep[],
  spoken: Readonly<Record<StoryStep['stage'], string>> = spokenStages(),
): VNode =>
  html`<ol class="way">${list.map(
    ({ stage, title, detail, at }) => html`<li class=${stage} aria-current=${stage === 'now' ? 'step' : undefined}>
      <span><span class="visually-hidden">${spoken[stage]}</span>${title}
      ${detail && html`<small class="muted">${detail}</small>`}</span>
      ${at && exactly(at)}
    </li>`,
  )}</ol>`;

export interface Fact {
  readonly term: string;
  readonly value: Content;
  readonly note: Content;
}

/** A few numbers, side by side. */
export const facts = (list: readonly Fact[]): VNode =>
  html`<dl class="facts card" id="facts" data-live="part">${list.map(
    ({ term, value, note }) =>
      html`<div><dt>${term}</dt><dd class="value">${value}</dd><dd class="small muted">${note}</dd></div>`,
  )}</dl>`;

// The state of a payment for its app's people: received money against the amount due, and held money.

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
