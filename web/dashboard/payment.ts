/** One payment: payment instructions, history, transactions, webhooks. */

import type { VNode } from 'preact';
import type { FundedRefundFacts } from '../../commands/fundedRefunds.ts';
import type { RefundableMoney } from '../../domain/payment/refundQuote.ts';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import type { PaymentView, SourceView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import type { StoryEntry } from '../../queries/paymentStory.ts';
import {
  card,
  chip,
  copyable,
  empty,
  inside,
  notice,
  pairs,
  type State,
  type StoryStep,
  steps,
} from '../parts/boxes.ts';
import {
  address,
  amount,
  amountText,
  between,
  chainName,
  countWords,
  grouped,
  lengthText,
  paymentName,
  shortAddress,
  transactionLink,
  when,
} from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { dueOf, paymentChip, stateWord } from '../parts/paymentState.ts';
import { sharing } from '../parts/sharing.ts';
import { table } from '../parts/table.ts';
import { deliveryTable } from './deliveryTable.ts';
import { fundedCard } from './fundRefund.ts';
import { type Moment, pastNotice, proofCard } from './proof.ts';
import { refundsCard } from './refunds.ts';
import { storySteps } from './story.ts';
import { canCancel, noteCard } from './tend.ts';

/** Lists the steps that a payment waits for, and later ones. */
export function nextSteps(payment: PaymentView, story: readonly StoryEntry[]): readonly StoryStep[] {
  const source = chainName(payment.sourceChainId);
  const destination = chainName(payment.destinationChainId);
  const payout: StoryStep = {
    stage: 'next',
    title: `Payout on ${destination}`,
    detail: html`<span>${amountText(payment.destinationAmount, payment.destinationTokenSymbol)} to ${shortAddress(payment.receiverAddress)}</span>`,
  };
  switch (payment.status) {
    case 'payment_unpaid':
      if (payment.cancelledAt !== null)
        return [{ stage: 'now', title: `Ends as soon as ${source} has been read up to the end` }];
      return [
        {
          stage: 'now',
          title: `Waiting for ${amountText(payment.sourceAmount, payment.sourceTokenSymbol)} on ${source}`,
          detail: html`<span>until ${when(payment.expiresAt)}</span>`,
        },
        payout,
      ];
    case 'payment_started':
      if (payment.missing !== null) return [missingStep(payment, source), payout];
      return [{ stage: 'now', title: `Confirming on ${source}`, detail: confirming(story) }, payout];
    case 'payment_payin_completed':
    case 'payment_bridging':
      return [{ ...payout, stage: 'now', title: `Payout on ${destination} is about to be sent` }];
    case 'payment_payout_started':
      return [{ stage: 'now', title: `Waiting until the payout is final on ${destination}` }];
    default:
      return [];
  }
}

const missingStep = (
  { missing, sourceTokenSymbol, expiresAt, cancelledAt }: PaymentView,
  source: string,
): StoryStep => ({
  stage: 'now',
  title:
    cancelledAt === null
      ? `Waiting for ${amountText(missing, sourceTokenSymbol)} more on ${source}`
      : `Ends as soon as ${source} has been read up to the end`,
  detail: html`<span>until ${when(expiresAt)}</span>`,
});

function confirming(story: readonly StoryEntry[]): string {
  const seen = story.findLast((entry) => entry.type === 'payinDetected');
  const depth = seen?.type === 'payinDetected' ? seen.confirmations : null;
  return depth === null
    ? 'Nothing is paid out before it is final.'
    : `${countWords(depth, 'confirmation')} so far. Nothing is paid out before it is final.`;
}

/**
 * Displays the amount to send while nothing has arrived.
 * @param link the payment page; null without one
 */
export function amountDueBox(payment: PaymentView, link: string | null): VNode {
  const chain = chainName(payment.sourceChainId);
  const { depositAddress, depositMemo, depositContract, depositContractMemo, sourceTokenSymbol, missing } = payment;
  const sourceAmount = missing ?? payment.sourceAmount;
  return card(
    {
      title: missing === null ? 'To be paid' : 'Still to be paid',
      note: html`<span>until ${when(payment.expiresAt)}</span>`,
    },
    inside(html`<div class="rows">
      ${
        missing !== null &&
        html`<p><strong>${`${amountText(payment.amountReceived, sourceTokenSymbol)} of ${amountText(dueOf(payment), sourceTokenSymbol)} received, waiting until `}${when(payment.expiresAt)}.</strong> ${'When the time to pay is over, your rule for too little decides what happens with it.'}</p>`
      }
      ${
        link !== null &&
        html`<div class="rows"><p>${missing === null ? 'Send this page to whoever pays:' : 'Send this page to the payer again:'}</p>${sharing(link, mailSubject(payment))}</div>`
      }
      ${pairs([
        [
          'Amount',
          sourceAmount === null
            ? amount(null, sourceTokenSymbol)
            : copyable(html`<span>exactly ${amount(sourceAmount, sourceTokenSymbol)}</span>`, sourceAmount, 'Amount'),
        ],
        ['Chain', chain],
        payment.payFrom === null ? null : ['Or, as the payer chooses', othersOf(payment, payment.payFrom)],
        ['Address', copyable(address(depositAddress), depositAddress, 'Address')],
        depositMemo === null
          ? null
          : ['Memo', copyable(html`<strong class="mono">${depositMemo}</strong>`, depositMemo, 'Memo')],
        depositContract === null ? null : ['Contract', copyable(address(depositContract), depositContract, 'Contract')],
        depositContractMemo === null || depositContractMemo === depositMemo
          ? null
          : [
              'Contract’s memo',
              copyable(html`<span class="mono">${depositContractMemo}</span>`, depositContractMemo, 'Contract’s memo'),
            ],
      ])}
      <p class="small muted">${warning(payment)}</p>
    </div>`),
  );
}

const othersOf = ({ sourceChainId, sourceTokenAddress }: PaymentView, sources: readonly SourceView[]): string =>
  sources
    .filter(({ chainId, tokenAddress }) => chainId !== sourceChainId || tokenAddress !== sourceTokenAddress)
    .map(({ chainId, tokenSymbol }) => `${tokenSymbol} on ${chainName(chainId)}`)
    .join(', ');

const mailSubject = (payment: PaymentView): string => payment.title ?? `Payment ${paymentName(payment)}`;

function warning({ sourceTokenSymbol, sourceChainId, depositMemo, sourceAmount }: PaymentView): string {
  const memo = depositMemo === null ? '' : ', and with the memo: without it the money cannot be told apart';
  const only = `Only ${sourceTokenSymbol}, only on ${chainName(sourceChainId)}${memo}.`;
  if (sourceAmount === null) return only;
  return `${only} Less than ${amountText(sourceAmount, sourceTokenSymbol)} is held, not paid out; it can be sent back.`;
}

export interface PaymentModel extends Frame {
  readonly payment: PaymentView;
  /** Oldest first. */
  readonly story: readonly StoryEntry[];
  readonly transactions: readonly PaymentTransaction[];
  readonly deliveries: readonly Delivery[];
  /** Refundable money. */
  readonly held: readonly RefundableMoney[];
  /** Refunds with new money; null for a view of the past. */
  readonly funded: FundedRefundFacts | null;
  /** The payment page; null without one. */
  readonly link: string | null;
  readonly moment: Moment;
  readonly now: Instant;
}

const orderTitle = (payment: PaymentView): string =>
  payment.orderId === null ? paymentName(payment) : `Order ${paymentName(payment)}`;

export const paymentPage = (model: PaymentModel): VNode => {
  const { app, payment, moment } = model;
  const head = {
    title: payment.title ?? orderTitle(payment),
    state: paymentChip(payment),
    up: { href: appPaths(app.appId).payments, label: 'Payments' },
    section: 'payments',
  } as const;
  if (moment.at !== null)
    return appPage(
      model,
      head,
      html`<div class="stack">${pastNotice(model, moment.at)}${boughtCard(payment)}${toldBy(model)}${proofCard(model)}</div>`,
    );
  return appPage(
    model,
    {
      ...head,
      live: `${paymentName(payment)}: ${stateWord(payment)[1]}`,
      controls:
        canCancel(payment) && linkButton(appPaths(app.appId).cancelPayment(payment.paymentId), 'Cancel…', 'danger'),
    },
    html`<div class="stack">
      <div id="state" data-live="part">
      ${payment.errorMessage !== null && notice('bad', html`<p>${payment.errorMessage}</p>`)}
      ${isOpen(payment) && amountDueBox(payment, model.link)}</div>
      ${boughtCard(payment)}
      ${toldBy(model)}
      ${refundsCard(model)}
      ${fundedCard(model)}
      ${moved(model)}
      ${told(model)}
      ${noteCard(app.appId, payment)}
      ${proofCard(model)}
    </div>`,
  );
};

/** Description and line items, as the payer reads them. Empty without both: the title is the page's. */
function boughtCard({ description, lineItems, ...payment }: PaymentView): VNode | false {
  if (description === null && lineItems === null) return false;
  const token = payment.type === 'exactIn' ? payment.sourceTokenSymbol : payment.destinationTokenSymbol;
  const items = lineItems ?? [];
  return card(
    {
      title: 'What is bought',
      note:
        payment.orderId === null
          ? undefined
          : html`<span>order ${bdi(paymentName({ ...payment, description, lineItems }))}</span>`,
    },
    html`<div>
      ${description !== null && inside(html`<p>${bdi(description)}</p>`)}
      ${
        items.length > 0 &&
        table(
          'Line items',
          [
            { head: 'Name', kind: 'title' },
            { head: 'Quantity', kind: 'number' },
            { head: 'Amount', kind: 'number' },
          ],
          items.map((item) => [bdi(item.name), String(item.quantity), amount(item.amount, token)]),
        )
      }</div>`,
  );
}

/** True while the payer can still pay. */
const isOpen = ({ status, missing, cancelledAt }: PaymentView): boolean =>
  cancelledAt === null && (status === 'payment_unpaid' || (status === 'payment_started' && missing !== null));

/** From the payment's own events, at any moment. */
function toldBy(model: PaymentModel): VNode {
  const { app, payment, story, mode, moment } = model;
  const next = moment.at === null ? nextSteps(payment, story) : [];
  const line = [...storySteps(story, mode, app.appId), ...next];
  return html`<div class="pair">
    ${card({ title: 'Story', note: 'every line is an event of the log', live: 'story' }, inside(steps(line)))}
    ${card({ title: 'Facts', live: 'facts' }, inside(factPairs(model)))}
  </div>`;
}

function moved(model: PaymentModel): VNode {
  const shown = model.transactions.length > 0 ? transactionTable(model) : noTransactions();
  return card({ title: 'Transactions', live: 'transactions' }, shown);
}

function told(model: PaymentModel): VNode {
  const { app, deliveries } = model;
  const shown = deliveries.length > 0 ? deliveryTable(app.appId, deliveries) : noDeliveries(model);
  return card({ title: 'Webhooks', live: 'webhooks' }, shown);
}

function factPairs({ payment }: PaymentModel): VNode {
  const { payinSeenAt, payoutConfirmedAt, excess, refunded, metadata } = payment;
  const paid = payment.amountReceived !== null;
  return pairs([
    [
      paid ? 'Payer sent' : 'Payer pays',
      html`<span>${amount(payment.amountReceived ?? payment.sourceAmount, payment.sourceTokenSymbol)} on ${chainName(payment.sourceChainId)}</span>`,
    ],
    [
      payoutWord(payment),
      html`<span>${amount(payment.destinationAmount, payment.destinationTokenSymbol)} on ${chainName(payment.destinationChainId)}</span>`,
    ],
    differs(payment)
      ? [
          'Expected',
          html`<span>${amount(payment.amountExpected, payment.sourceTokenSymbol)}; ${amount(payment.amountCame, payment.sourceTokenSymbol)} came, ${signed(payment.amountDelta)}</span>`,
        ]
      : null,
    payment.sourceFee === null ? null : ['Fee', amount(payment.sourceFee, payment.sourceTokenSymbol)],
    some(excess) ? ['Too much, held', amount(excess, payment.sourceTokenSymbol)] : null,
    some(refunded) ? ['Sent back', amount(refunded, payment.sourceTokenSymbol)] : null,
    payinSeenAt && payoutConfirmedAt
      ? ['Took', `${lengthText(between(payinSeenAt, payoutConfirmedAt))} from seen to paid out`]
      : null,
    ['Created', html`<span>${when(payment.createdAt)}${payment.keyless && ', without a key'}</span>`],
    payment.status === 'payment_unpaid' || payment.status === 'payment_expired'
      ? [payment.status === 'payment_expired' ? 'Ended' : 'Ends', when(payment.expiresAt)]
      : null,
    payment.orderId === null
      ? null
      : ['Order', copyable(html`<span class="mono">${bdi(payment.orderId)}</span>`, payment.orderId, 'Order id')],
    ['Payment', copyable(html`<span class="mono">${payment.paymentId}</span>`, payment.paymentId, 'Payment id')],
    payment.senderAddress === null
      ? null
      : ['Payer', copyable(address(payment.senderAddress), payment.senderAddress, 'Payer’s address')],
    ['Paid to', copyable(address(payment.depositAddress), payment.depositAddress, 'Deposit address')],
    payment.depositMemo === null
      ? null
      : ['With memo', copyable(html`<span class="mono">${payment.depositMemo}</span>`, payment.depositMemo, 'Memo')],
    ['Receiver', copyable(address(payment.receiverAddress), payment.receiverAddress, 'Receiver’s address')],
    payment.receiverMemo === null
      ? null
      : ['Receiver’s memo', html`<span class="mono">${bdi(payment.receiverMemo)}</span>`],
    metadata === null
      ? null
      : [
          'Metadata',
          html`<details><summary>${countWords(Object.keys(metadata).length, 'field')}</summary><pre class="mono">
            ${JSON.stringify(metadata, null, 2)}</pre></details>`,
        ],
  ]);
}

/** Money arrived that is not the agreed amount. */
const differs = ({ amountCame, amountDelta }: PaymentView): boolean =>
  Number(amountCame) > 0 && amountDelta !== null && Number(amountDelta) !== 0;

const signed = (delta: string | null): string =>
  delta?.startsWith('-') ? `${grouped(delta.slice(1))} too little` : `${grouped(delta ?? '0.00')} too much`;

const endedOtherwise = ({ status }: PaymentView): boolean =>
  status === 'payment_expired' || status === 'payment_bounced' || status === 'payment_refunded';

function payoutWord(payment: PaymentView): string {
  if (payment.payoutConfirmedAt !== null) return 'Paid out';
  return endedOtherwise(payment) ? 'Was to be paid out' : 'To be paid out';
}

const some = (amount: string | null): boolean => amount !== null && Number(amount) > 0;

const kinds = { payin: 'Payment', payout: 'Payout', refund: 'Refund' } as const;

const stages: Readonly<Record<PaymentTransaction['status'], readonly [State, string]>> = {
  detected: ['wait', 'Seen'],
  confirmed: ['ok', 'Final'],
  orphaned: ['bad', 'Left the chain'],
  lost: ['bad', 'Vanished'],
  live: ['wait', 'Sent'],
  lapsed: ['idle', 'Lapsed'],
  dead: ['idle', 'Dead'],
  short: ['bad', 'Too little arrived'],
  settled: ['ok', 'Final'],
};

const transactionTable = ({ transactions, mode }: PaymentModel): VNode =>
  table(
    'Transactions',
    [
      { head: 'What', kind: 'title' },
      { head: 'Transaction', kind: 'detail' },
      { head: 'From and to', kind: 'detail' },
      { head: 'State', kind: 'chip' },
      { head: 'When', kind: 'when' },
      { head: 'Amount', kind: 'number' },
    ],
    transactions.map((transaction) => [
      html`<span><strong>${kinds[transaction.kind]}</strong> on ${chainName(transaction.chainId)}
        ${
          transaction.blockNumber !== null &&
          html`<small class="below">block ${grouped(transaction.blockNumber)}
        </small>`
        }</span>`,
      transactionLink(mode, transaction.chainId, transaction.txHash),
      html`<span>${shortAddress(transaction.fromAddress)} → ${shortAddress(transaction.toAddress)}</span>`,
      chip(...stages[transaction.status]),
      when(transaction.at),
      amount(transaction.amount, transaction.tokenSymbol),
    ]),
  );

const noTransactions = (): VNode =>
  empty(
    'Nothing on any chain yet',
    'The transaction that pays, and the one that pays you, are listed here with links to explorers of their chains.',
  );

function noDeliveries({ payment }: PaymentModel): VNode {
  if (payment.webhookUrl === null) {
    return empty(
      'This payment has no webhook',
      'It was created while the app had no webhook URL. Its end can be read with the API, or here.',
    );
  }
  if (endedOtherwise(payment)) {
    return empty('None is sent', 'Webhooks tell that money has arrived as agreed, and that it was paid out.');
  }
  const url = html`<span class="mono">${payment.webhookUrl}</span>`;
  return empty(
    'None was sent yet',
    html`<span>Two go to ${url}: one when the payment has arrived, one when it was paid out.</span>`,
  );
}
