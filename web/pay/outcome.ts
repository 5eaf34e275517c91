/** Outcome of the money once it is final: both transactions, and the next steps. */
import type { VNode } from 'preact';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import { between, chainName } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import type { Say } from './language.ts';
import { isFeeOfMerchant, type PayModel, shopName } from './model.ts';
import { seen } from './story.ts';
import { sum } from './sum.ts';

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
