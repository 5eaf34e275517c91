/** Outcome of the money once it is final: both transactions, and the next steps. */
import type { VNode } from 'preact';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import { type StoryStep, steps } from '../parts/boxes.ts';
import { between, chainName, explorerUrl, shortText } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import type { Say } from './language.ts';
import { isFeeOfMerchant, type PayModel, shopName } from './model.ts';
import { sum } from './parts.ts';

/** Empty while the payment is open. */
export function outcome(model: PayModel): VNode {
  const { say, shop, path, facts, madeWith } = model;
  const { situation } = facts;
  const over = !situation.open && !['timeUp', 'detected', 'confirming'].includes(situation.kind);
  if (!over) return html`<div id="outcome" data-live="part"></div>`;
  const completed = situation.kind === 'completed';
  const back = completed ? 'button primary' : 'button';
  const list = transfersOf(model);
  return html`<div id="outcome" data-live="part">
    ${list.length > 0 && html`<dl class="lines">${list}</dl>`}
    <section class="ways">
      ${madeWith && (madeWith.closed ? html`<p class="small muted">${say('againClosed', { merchant: shopName(model) })}</p>` : html`<a class="button primary" href=${`${madeWith.path}?lang=${say.language}`} target="_top">${say('payAgain')}</a>`)}
      ${shop.returnUrl !== null && html`<a class=${back} href=${shop.returnUrl} target="_top" rel="noreferrer"><span>${shop.name === null ? say('backToMerchant') : say('backTo', { merchant: shop.name })}</span></a>`}
      ${completed && html`<a class=${shop.returnUrl === null ? 'button' : 'button quiet'} href=${`${path}/receipt?lang=${say.language}`}>${say('showReceipt')}</a>`}
      ${['paid', 'payingOut'].includes(situation.kind) && html`<p class="small muted">${say('nothingToDo')}</p>`}
    </section>
  </div>`;
}

function transfersOf(model: PayModel): Content[] {
  const { say, facts } = model;
  const { payment, transactions, situation } = facts;
  const merchant = shopName(model);
  const sentBack = transactions.filter(
    ({ kind, status }) => kind === 'refund' && (status === 'settled' || status === 'live'),
  );
  if (situation.kind !== 'completed')
    return sentBack.map((each) => transferLine(model, say('sentBack'), say.text('sentBack'), each));
  const payin = transactions.filter(
    ({ kind, standing, status }) => kind === 'payin' && standing === 'counted' && status === 'confirmed',
  );
  const payout = transactions.filter(({ kind, status }) => kind === 'payout' && status === 'settled');
  const { payinSeenAt, payoutConfirmedAt, sourceFee, sourceTokenSymbol } = payment;
  return [
    ...payin.map((each) => transferLine(model, say('youSent'), say.text('youSent'), each)),
    ...payout.map((each) =>
      isFeeOfMerchant(payment)
        ? fact(say('merchantPaid', { merchant }), payoutSeen(model, each, say.text('merchantPaid', { merchant })))
        : transferLine(model, say('merchantGot', { merchant }), say.text('merchantGot', { merchant }), each),
    ),
    !isFeeOfMerchant(payment) && sourceFee !== null && fact(say('fee'), sum(sourceFee, sourceTokenSymbol)),
    payinSeenAt !== null &&
      payoutConfirmedAt !== null &&
      fact(say('took'), durationOf(say, between(payinSeenAt, payoutConfirmedAt))),
    ...sentBack.map((each) => transferLine(model, say('sentBack'), say.text('sentBack'), each)),
  ];
}

export const fact = (name: Content, value: Content): VNode =>
  html`<div class="line"><dt>${name}</dt><dd><div>${value}</div></dd></div>`;

function transferLine(model: PayModel, name: Content, what: string, transaction: PaymentTransaction): VNode {
  const { amount, tokenSymbol, chainId } = transaction;
  const value = html`<span>${model.say('amountOn', { amount: sum(amount, tokenSymbol), chain: chainName(chainId) })} <small class="muted">${seen(model, transaction, what)}</small></span>`;
  return fact(name, value);
}

/** The payout without its amount. */
const payoutSeen = (model: PayModel, payout: PaymentTransaction, what: string): VNode =>
  html`<span>${model.say('on', { chain: chainName(payout.chainId) })} <small class="muted">${seen(model, payout, what)}</small></span>`;

/** One unit, rounded up. The clocks of two chains may differ: less than one second counts as one second. */
export function durationOf(say: Say, length_ms: number): string {
  const seconds = Math.max(1, Math.ceil(length_ms / 1_000));
  if (seconds < 100) return say.duration(seconds, 'second');
  if (seconds < 100 * 60) return say.duration(Math.ceil(seconds / 60), 'minute');
  return say.duration(Math.ceil(seconds / 3_600), 'hour');
}

// Progress of the money for its payer: sent, final, paid out.

/** Empty while no money has arrived. */
export function story(model: PayModel): VNode {
  const { say, facts } = model;
  const list = stepsOf(model);
  if (
    list.length === 0 ||
    facts.payment.status === 'payment_payout_completed' ||
    facts.payment.status === 'payment_completed'
  )
    return html`<div id="story" data-live="part"></div>`;
  const spoken = {
    done: say.text('stepDone'),
    now: say.text('stepNow'),
    next: say.text('stepNext'),
    problem: say.text('stepProblem'),
  };
  return html`<div id="story" data-live="part"><div class="story">${steps(list, spaced(spoken))}</div></div>`;
}

const spaced = <K extends string>(words: Readonly<Record<K, string>>): Readonly<Record<K, string>> =>
  Object.fromEntries(Object.entries<string>(words).map(([stage, word]) => [stage, `${word} `])) as Record<K, string>;

function stepsOf(model: PayModel): readonly StoryStep[] {
  const { payment, situation, transactions } = model.facts;
  const counted = transactions.filter(
    ({ kind, standing, status }) => kind === 'payin' && standing === 'counted' && status !== 'orphaned',
  );
  if (counted.length === 0) return [];
  const sent = counted.map((transaction) => sentStep(model, transaction));
  if (['tooLow', 'tooHigh', 'unpayable', 'refunding', 'refunded', 'timeUp'].includes(situation.kind)) return sent;
  // Money on another of the payer's chains does not count here: the head of the page mentions it.
  const own = counted.filter(
    ({ chainId, tokenSymbol }) => chainId === payment.sourceChainId && tokenSymbol === payment.sourceTokenSymbol,
  );
  if (own.length === 0) return [];
  const ownSent = own.map((transaction) => sentStep(model, transaction));
  return [...ownSent, finalStep(model), payoutStep(model, payment.destinationChainId)];
}

/** A transaction with its public details. */
function seen(
  { say, mode }: PayModel,
  { chainId, txHash }: Pick<PaymentTransaction, 'chainId' | 'txHash'>,
  what: string,
): Content {
  const url = explorerUrl(mode, chainId, txHash);
  const hash = html`<span class="mono" dir="ltr" title=${txHash}>${shortText(txHash)}</span>`;
  return url === null
    ? hash
    : html`<a href=${url} rel="noopener noreferrer" target="_blank">${hash}<span class="visually-hidden"> ${say.text('seeWhat', { what })}</span></a>`;
}

function sentStep(model: PayModel, transaction: PaymentTransaction): StoryStep {
  const { say } = model;
  const { amount, tokenSymbol, fromAddress } = transaction;
  return {
    stage: 'done',
    title: say('stepSent', {
      address: html`<span class="mono" dir="ltr" title=${fromAddress}>${shortText(fromAddress)}</span>`,
    }),
    detail: html`<span>${sum(amount, tokenSymbol)} · ${seen(model, transaction, say.text('transaction'))}</span>`,
  };
}

function finalStep({ say, facts }: PayModel): StoryStep {
  const { situation, payment } = facts;
  const chain = chainName(payment.sourceChainId);
  const { depth } = situation;
  if (payment.payinConfirmedAt !== null) return { stage: 'done', title: say('stepFinal', { chain }) };
  if (depth === null) return { stage: 'next', title: say('stepFinal', { chain }) };
  const count = html`<bdi dir="ltr">${depth.confirmations}</bdi>`;
  return {
    stage: 'now',
    title: say('stepSeen', { chain }),
    detail:
      depth.needed === null
        ? say('depthOnly', { count })
        : say('depth', { count, needed: html`<bdi dir="ltr">${depth.needed}</bdi>` }),
  };
}

function payoutStep(model: PayModel, chainId: number): StoryStep {
  const { say, facts } = model;
  const { kind } = facts.situation;
  const merchant = shopName(model);
  const chain = chainName(chainId);
  return {
    stage: kind === 'paid' || kind === 'payingOut' ? 'now' : 'next',
    title: say('stepPayout', { merchant, chain }),
  };
}
