/** One order from start to end on one screen: goods, payment, the shop's knowledge, the receipt. */
import type { VNode } from 'preact';
import { card, inside, notice, pairs, type StoryStep, statusChip, steps, wordOf } from '../../web/parts/boxes.ts';
import { amount, chainName, shortAddress } from '../../web/parts/cells.ts';
import { copyButton } from '../../web/parts/field.ts';
import { html } from '../../web/parts/html.ts';
import { isOver, isPaid, type Learning, type Order, type Receipt, type Source, type Transfer } from './orders.ts';
import { behind, shopPage } from './page.ts';

export const orderPage = (order: Order, learning: Learning, serviceUrl: string | null): string =>
  shopPage(
    order.orderId,
    serviceUrl,
    html`<div class="counter">
      <div class="stack">
        <h1>Order ${order.orderId}</h1>
        <div id="order" data-live="part" data-waiting=${order.receipt || (isOver(order) && !isPaid(order)) ? undefined : 'yes'}>
          ${card({ title: order.goods, controls: statusChip(order.status) }, inside(facts(order)))}
        </div>
        <div id="paying" data-live="part">${isOver(order) || order.news.length > 0 ? null : paying(order, serviceUrl)}</div>
        <div id="receipt" data-live="part">${order.receipt ? receiptCard(order, order.receipt, serviceUrl) : null}</div>
      </div>
      <div class="stack">
        <div id="story" data-live="part">${card({ title: 'Behind the counter' }, inside(steps(storyOf(order, learning))))}</div>
        ${behind(learning, `/orders/${order.orderId}`)}
      </div>
      <p class="visually-hidden" role="status" id="said" data-say=${`${order.orderId}: ${wordOf(order.status)}`}></p>
    </div>`,
  );

const facts = ({ price, chainId, payment }: Order): VNode =>
  pairs([
    ['Price', amount(price, 'USDC')],
    [
      'You pay',
      html`<span>${payment ? amount(payment.amount, 'USDC') : 'reckoned in a moment'} on ${nameOf(chainId)}</span>`,
    ],
  ]);

const nameOf = (chainId: string): string => chainName(Number(chainId));

/** The button that opens the frame, and the plain link beside it. */
function paying({ payment }: Order, serviceUrl: string | null): VNode {
  if (!payment || serviceUrl === null)
    return card({ title: 'Pay' }, inside(notice('wait', html`<p>Your order is kept. The payment is being made.</p>`)));
  const link = `${serviceUrl}${payment.page}`;
  const command = `npm run pay -- ${payment.paymentId}`;
  return card(
    { title: 'Pay' },
    inside(html`<div class="rows">
      <div class="controls">
        <a class="button primary" href=${link} data-payment>Pay ${payment.amount} USDC</a>
        <a class="button plain" href=${link} target="_blank" rel="noopener">Open its page</a>
      </div>
      <p class="small muted">The button opens the payment in a frame over this page, the link opens it by itself. No wallet
      here? The sandbox has a customer who pays:</p>
      <div class="copyable"><code class="code">${command}</code>${copyButton(command, 'Command')}</div>
    </div>`),
  );
}

const learned: Readonly<Record<Source, string>> = {
  webhook: 'by webhook, signature right',
  feed: 'read in the feed',
  asked: 'asked for: no webhook had told',
};

function storyOf(order: Order, learning: Learning): readonly StoryStep[] {
  const { placedAt, payment, news, receipt } = order;
  const over = isOver(order);
  const told = news.map(
    ({ status, by, at }): StoryStep => ({ stage: 'done', title: wordOf(status), detail: learned[by], at }),
  );
  const waiting: StoryStep = {
    stage: 'now',
    title: learning === 'webhook' ? 'Waiting for a webhook' : 'Reading the feed',
    detail: 'What the browser says counts for nothing',
  };
  return [
    { stage: 'done', title: 'Order written down', detail: order.orderId, at: placedAt },
    payment
      ? {
          stage: 'done',
          title: 'Payment made',
          detail: html`<span>${shortAddress(payment.paymentId)}</span>`,
          at: payment.at,
        }
      : { stage: 'now', title: 'Making the payment', detail: 'again and again until the service answers' },
    ...told,
    ...(over || !payment ? [] : [waiting]),
    ...(!isPaid(order) && over
      ? [
          {
            stage: 'problem',
            title: 'Not handed over',
            detail: 'The payment’s page says what becomes of the money',
          } as const,
        ]
      : [{ stage: receipt ? 'done' : 'next', title: 'Handed over, with the receipt' } as const]),
  ];
}

const receiptCard = ({ payment, goods, price }: Order, { paid, got, fee }: Receipt, serviceUrl: string | null): VNode =>
  card(
    { title: 'Receipt' },
    inside(html`<div class="rows">
      ${notice('ok', html`<p>Thank you. ${goods} is on its way.</p>`)}
      ${pairs([
        ['You paid', transfer(paid)],
        ['We got', transfer(got)],
        fee === null ? null : ['Fee', amount(fee, paid.tokenSymbol)],
        ['Price', amount(price, 'USDC')],
      ])}
      ${payment && serviceUrl !== null && html`<p><a href=${`${serviceUrl}${payment.page}/receipt`} target="_blank" rel="noopener">Receipt to print</a></p>`}
    </div>`),
  );

const transfer = ({ amount: sum, tokenSymbol, chainId, txHash }: Transfer): VNode =>
  html`<span>${amount(sum, tokenSymbol)} on ${nameOf(chainId)} <small class="below mono" dir="ltr">${txHash}</small></span>`;
