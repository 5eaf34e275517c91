/** A receipt on one sheet of paper: payer, receiver, amount, and both transactions in full. */
import type { VNode } from 'preact';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import { notice } from '../parts/boxes.ts';
import { chainName, explorerUrl } from '../parts/cells.ts';
import { type Content, html } from '../parts/html.ts';
import { payDocument } from './layout.ts';
import { isFeeOfMerchant, type PayModel, shopName } from './model.ts';
import { fact } from './outcome.ts';
import { bought, help, orderShown, sum } from './parts.ts';

export function receiptPage(model: PayModel): VNode {
  const { say, facts, shop, path } = model;
  const { payment } = facts;
  const completed = facts.situation.kind === 'completed';
  const title = say.text('receipt');
  return payDocument(
    { ...model, path: `${path}/receipt` },
    {
      title: shop.name === null ? title : `${title} · ${shop.name}`,
      shop,
      order: orderShown(payment),
      live: null,
      sites: model.sites,
    },
    html`<div class="card receipt">
      <section class="ask"><h1>${say('receipt')}</h1>${bought(model, 'whole')}${completed ? html`<p class="amount">${sum(payment.amountReceived ?? '0', payment.sourceTokenSymbol)}</p>` : notice('wait', html`<p>${say('notYet')}</p>`)}</section>
      ${completed && html`<dl class="lines">${lines(model)}</dl>`}
      ${completed && html`<p class="note">${say('verify')}</p>`}
      <section class="ways">${completed && html`<button class="button primary" type="button" data-print hidden>${say('print')}</button>`}<a class="button quiet" href=${`${path}?lang=${say.language}`}>${say('backToPayment')}</a></section>
      ${help(model)}
    </div>`,
  );
}

function lines(model: PayModel): Content {
  const { say, facts } = model;
  const { payment, transactions } = facts;
  const payins = transactions.filter(
    ({ kind, standing, status }) => kind === 'payin' && standing === 'counted' && status === 'confirmed',
  );
  const payouts = transactions.filter(({ kind, status }) => kind === 'payout' && status === 'settled');
  const refunds = transactions.filter(({ kind, status }) => kind === 'refund' && status === 'settled');
  return [
    payment.payinConfirmedAt !== null &&
      fact(
        say('paidOn'),
        html`<time datetime=${payment.payinConfirmedAt} dir="auto">${say.time(payment.payinConfirmedAt)}</time>`,
      ),
    ...payins.map((each) => transfer(model, say('youSent'), each)),
    ...payouts.map((each) => payout(model, each)),
    !isFeeOfMerchant(payment) &&
      payment.sourceFee !== null &&
      fact(say('fee'), sum(payment.sourceFee, payment.sourceTokenSymbol)),
    ...refunds.map((each) => transfer(model, say('sentBack'), each)),
    fact(say('paymentId'), html`<span class="mono" dir="ltr">${payment.paymentId}</span>`),
  ];
}

/** The merchant's fee is hidden from the buyer, who pays the price. */
function payout(model: PayModel, transaction: PaymentTransaction): VNode {
  const merchant = shopName(model);
  return isFeeOfMerchant(model.facts.payment)
    ? transfer(model, model.say('merchantPaid', { merchant }), transaction, 'without its amount')
    : transfer(model, model.say('merchantGot', { merchant }), transaction);
}

function transfer(
  { say, mode }: PayModel,
  name: Content,
  transaction: PaymentTransaction,
  how: 'whole' | 'without its amount' = 'whole',
): VNode {
  const { chainId, txHash, amount, tokenSymbol, fromAddress, toAddress, blockNumber } = transaction;
  const url = explorerUrl(mode, chainId, txHash);
  const hash = html`<span class="mono" dir="ltr">${txHash}</span>`;
  const value = html`<div class="transfer">
    <p>${how === 'whole' ? say('amountOn', { amount: sum(amount, tokenSymbol), chain: chainName(chainId) }) : say('on', { chain: chainName(chainId) })}</p>
    <dl class="small">
      <div><dt>${say('transaction')}</dt><dd>${url === null ? hash : html`<a href=${url} rel="noopener noreferrer" target="_blank">${hash}</a>`}</dd></div>
      <div><dt>${say('from')}</dt><dd class="mono" dir="ltr">${fromAddress}</dd></div>
      <div><dt>${say('to')}</dt><dd class="mono" dir="ltr">${toAddress}</dd></div>
      ${blockNumber !== null && html`<div><dt>${say('block')}</dt><dd class="mono" dir="ltr">${blockNumber}</dd></div>`}
    </dl></div>`;
  return fact(name, value);
}
