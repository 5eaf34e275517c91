/** What is to be sent where, for as long as it counts. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import { address } from '../parts/address.ts';
import { type Content, html } from '../parts/html.ts';
import { qrCode } from '../parts/qr.ts';
import { chainName } from '../parts/words.ts';
import { contractCall } from './contractCall.ts';
import { isDue, type PayModel, shopName } from './model.ts';
import { sum } from './sum.ts';
import { line } from './toPayLine.ts';

/** Empty once nothing is to be sent any more. */
export function toPay(model: PayModel): VNode {
  const { situation, payment } = model.facts;
  if (!isDue(situation)) return html`<div id="to-pay" data-live="part"></div>`;
  const called = payment.depositContract !== null;
  return html`<div id="to-pay" data-live="part">
    ${called ? contractCall(model, amountLeft(model)) : plain(model)}
    ${called && payment.depositMemo !== null && html`<details class="folded"><summary>${model.say('plainTransfer')}</summary>${plain(model)}</details>`}
    <p class="note">${rules(model)}</p>
  </div>`;
}

/** What is still to be sent, in whole tokens; null where the payer chooses. */
const amountLeft = ({ facts: { situation, payment } }: PayModel): string | null =>
  payment.sourceAmount === null ? null : (situation.missing?.amount ?? null);

function plain(model: PayModel): VNode {
  const { say, walletLink } = model;
  return html`<div>${
    walletLink !== null &&
    html`<section class="scan">
      ${qrCode(walletLink, say.text('qr'))}
      <a class="button primary" href=${walletLink} target="_top" title=${say.text('qrText', { link: walletLink })}>${say('openWallet')}</a>
    </section>`
  }<dl class="lines">${rows(model)}</dl></div>`;
}

function rows(model: PayModel): Content {
  const { say, walletLink } = model;
  const { payment, situation } = model.facts;
  const left = amountLeft(model);
  const token = payment.sourceTokenSymbol;
  return [
    line(say, 'sendTo', address(payment.depositAddress), payment.depositAddress),
    payment.depositMemo !== null &&
      line(say, 'memo', html`<strong class="mono" dir="ltr">${payment.depositMemo}</strong>`, payment.depositMemo),
    left !== null
      ? line(say, 'exactAmount', sum(left, token), left)
      : line(
          say,
          'amount',
          html`<span>${say('anyAmount')}${situation.missing && html`<small class="muted">${say('atLeast', { amount: sum(situation.missing.amount, token) })}</small>`}</span>`,
        ),
    line(say, 'token', tokenText(payment), payment.sourceTokenAddress),
    walletLink !== null && html`<div class="line visually-hidden"><dt>${say('qr')}</dt><dd>${walletLink}</dd></div>`,
  ];
}

/** By its contract as well: a symbol can be anybody's. */
const tokenText = ({ sourceTokenSymbol, sourceTokenAddress, sourceChainId }: PaymentView): VNode =>
  html`<span><span>${sourceTokenSymbol} · ${chainName(sourceChainId)}</span> <small class="muted">${address(sourceTokenAddress)}</small></span>`;

function rules(model: PayModel): Content {
  const { say } = model;
  const { payment, situation } = model.facts;
  const merchant = shopName(model);
  if (situation.kind === 'underpaid' && situation.received) {
    const { amount, tokenSymbol } = situation.received;
    return say('underpaidNote', { received: sum(amount, tokenSymbol), merchant });
  }
  const chain = chainName(payment.sourceChainId);
  return [
    html`<span>${say('onlyThis', { token: payment.sourceTokenSymbol, chain, merchant })} </span>`,
    payment.depositMemo !== null && html`<span>${say('withMemo')} </span>`,
    payment.sourceAmount !== null && html`<span>${say('fromExchange')}</span>`,
  ];
}
