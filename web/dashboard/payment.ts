/** One payment: payment instructions, history, transactions, webhooks. */
import type { VNode } from 'preact';
import type { FundedRefundFacts } from '../../commands/fundedRefunds.ts';
import type { RefundableMoney } from '../../domain/payment/refundOrder.ts';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import type { PaymentView, SourceView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import type { StoryEntry } from '../../queries/paymentStory.ts';
import {
  card,
  chip,
  copyable,
  dueOf,
  empty,
  inside,
  notice,
  pairs,
  paymentChip,
  type State,
  type StoryStep,
  stateWord,
  steps,
} from '../parts/boxes.ts';
import {
  address,
  amount,
  amountText,
  between,
  chainName,
  grouped,
  lengthText,
  paymentName,
  shortAddress,
  transactionLink,
  when,
} from '../parts/cells.ts';
import { type FormState, linkButton, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { bdi, type Content, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { type PlainName, pageLanguage, sayContent, sayCount, sayText } from '../parts/say.ts';
import { sharing } from '../parts/sharing.ts';
import { table } from '../parts/table.ts';
import { deliveryTable } from './deliveries.ts';
import { fundedCard } from './fundRefund.ts';
import { refundsCard } from './refunds.ts';
import { storySteps } from './story.ts';
import { canCancel, noteCard } from './tend.ts';

/** Lists the steps that a payment waits for, and later ones. */
export function nextSteps(payment: PaymentView, story: readonly StoryEntry[]): readonly StoryStep[] {
  const source = chainName(payment.sourceChainId);
  const destination = chainName(payment.destinationChainId);
  const payout: StoryStep = {
    stage: 'next',
    title: sayText('nextPayout', { chain: destination }),
    detail: html`<span>${sayContent('amountTo', { amount: amountText(payment.destinationAmount, payment.destinationTokenSymbol), address: shortAddress(payment.receiverAddress) })}</span>`,
  };
  switch (payment.status) {
    case 'payment_unpaid':
      if (payment.cancelledAt !== null) return [{ stage: 'now', title: sayText('endsWhenRead', { chain: source }) }];
      return [
        {
          stage: 'now',
          title: sayContent('waitingFor', {
            amount: amountText(payment.sourceAmount, payment.sourceTokenSymbol),
            chain: source,
          }),
          detail: html`<span>${sayContent('until', { time: when(payment.expiresAt) })}</span>`,
        },
        payout,
      ];
    case 'payment_started':
      if (payment.missing !== null) return [missingStep(payment, source), payout];
      return [{ stage: 'now', title: sayText('confirmingOn', { chain: source }), detail: confirming(story) }, payout];
    case 'payment_payin_completed':
    case 'payment_bridging':
      return [{ ...payout, stage: 'now', title: sayText('payoutAboutToBeSent', { chain: destination }) }];
    case 'payment_payout_started':
      return [{ stage: 'now', title: sayText('waitingUntilFinal', { chain: destination }) }];
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
      ? sayContent('waitingForMore', { amount: amountText(missing, sourceTokenSymbol), chain: source })
      : sayText('endsWhenRead', { chain: source }),
  detail: html`<span>${sayContent('until', { time: when(expiresAt) })}</span>`,
});

function confirming(story: readonly StoryEntry[]): string {
  const seen = story.findLast((entry) => entry.type === 'payinDetected');
  const depth = seen?.type === 'payinDetected' ? seen.confirmations : null;
  return depth === null ? sayText('notBeforeFinal') : sayCount('confirmationsSoFar', depth);
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
      title: sayText(missing === null ? 'toBePaid' : 'stillToBePaid'),
      note: html`<span>${sayContent('until', { time: when(payment.expiresAt) })}</span>`,
    },
    inside(html`<div class="rows">
      ${
        missing !== null &&
        html`<p><strong>${sayContent('partReceived', { received: amountText(payment.amountReceived, sourceTokenSymbol), due: amountText(dueOf(payment), sourceTokenSymbol), time: when(payment.expiresAt) })}</strong> ${sayContent('ruleDecides')}</p>`
      }
      ${
        link !== null &&
        html`<div class="rows"><p>${sayContent(missing === null ? 'sendThisPage' : 'sendThisPageAgain')}</p>${sharing(link, mailSubject(payment))}</div>`
      }
      ${pairs([
        [
          sayText('amount'),
          sourceAmount === null
            ? amount(null, sourceTokenSymbol)
            : copyable(
                html`<span>${sayContent('exactly', { amount: amount(sourceAmount, sourceTokenSymbol) })}</span>`,
                sourceAmount,
                sayText('amount'),
              ),
        ],
        [sayText('chain'), chain],
        payment.payFrom === null ? null : [sayText('orOtherSource'), othersOf(payment, payment.payFrom)],
        [sayText('address'), copyable(address(depositAddress), depositAddress, sayText('address'))],
        depositMemo === null
          ? null
          : [
              sayText('memo'),
              copyable(html`<strong class="mono">${depositMemo}</strong>`, depositMemo, sayText('memo')),
            ],
        depositContract === null
          ? null
          : [sayText('contract'), copyable(address(depositContract), depositContract, sayText('contract'))],
        depositContractMemo === null || depositContractMemo === depositMemo
          ? null
          : [
              sayText('contractMemo'),
              copyable(
                html`<span class="mono">${depositContractMemo}</span>`,
                depositContractMemo,
                sayText('contractMemo'),
              ),
            ],
      ])}
      <p class="small muted">${warning(payment)}</p>
    </div>`),
  );
}

const othersOf = ({ sourceChainId, sourceTokenAddress }: PaymentView, sources: readonly SourceView[]): string =>
  sources
    .filter(({ chainId, tokenAddress }) => chainId !== sourceChainId || tokenAddress !== sourceTokenAddress)
    .map(({ chainId, tokenSymbol }) => sayText('onChain', { token: tokenSymbol, chain: chainName(chainId) }))
    .join(sayText('listComma'));

const mailSubject = (payment: PaymentView): string =>
  payment.title ?? sayText('paymentNamed', { name: paymentName(payment) });

function warning({ sourceTokenSymbol, sourceChainId, depositMemo, sourceAmount }: PaymentView): Content {
  const source = { token: sourceTokenSymbol, chain: chainName(sourceChainId) };
  const only = depositMemo === null ? sayContent('onlyToken', source) : sayContent('onlyTokenMemo', source);
  if (sourceAmount === null) return only;
  return [only, ' ', sayContent('lessIsHeld', { amount: amountText(sourceAmount, sourceTokenSymbol) })];
}

const problems: Readonly<Record<NonNullable<PaymentView['errorCode']>, PlainName>> = {
  amountTooLow: 'problemTooLow',
  amountTooHigh: 'problemTooHigh',
  latePayin: 'problemLate',
  wrongToken: 'problemWrongToken',
  wrongChain: 'problemWrongChain',
  otherSender: 'problemOtherSender',
  payoutImpossible: 'problemPayoutImpossible',
};

/** English is the text of the API. Other languages do not repeat the transaction and the address of an empty payin. */
function problemOf({ errorCode, errorMessage }: PaymentView): string | null {
  if (errorMessage === null || pageLanguage() === 'en') return errorMessage;
  return sayText(errorCode === null ? 'problemEmptyPayin' : problems[errorCode]);
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
  payment.orderId === null ? paymentName(payment) : sayText('orderTitle', { name: paymentName(payment) });

export const paymentPage = (model: PaymentModel): VNode => {
  const { app, payment, moment } = model;
  const head = {
    title: payment.title ?? orderTitle(payment),
    state: paymentChip(payment),
    up: { href: appPaths(app.appId).payments, label: sayText('payments') },
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
        canCancel(payment) &&
        linkButton(appPaths(app.appId).cancelPayment(payment.paymentId), sayContent('cancelMenu'), 'danger'),
    },
    html`<div class="stack">
      <div id="state" data-live="part">
      ${payment.errorMessage !== null && notice('bad', html`<p>${problemOf(payment)}</p>`)}
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
      title: sayText('bought'),
      note:
        payment.orderId === null
          ? undefined
          : html`<span>${sayContent('orderNote', { name: bdi(paymentName({ ...payment, description, lineItems })) })}</span>`,
    },
    html`<div>
      ${description !== null && inside(html`<p>${bdi(description)}</p>`)}
      ${
        items.length > 0 &&
        table(
          sayText('lineItems'),
          [
            { head: sayText('name'), kind: 'title' },
            { head: sayText('quantity'), kind: 'number' },
            { head: sayText('amount'), kind: 'number' },
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
    ${card({ title: sayText('story'), note: sayContent('storyNote'), live: 'story' }, inside(steps(line)))}
    ${card({ title: sayText('facts'), live: 'facts' }, inside(factPairs(model)))}
  </div>`;
}

function moved(model: PaymentModel): VNode {
  const shown = model.transactions.length > 0 ? transactionTable(model) : noTransactions();
  return card({ title: sayText('transactions'), live: 'transactions' }, shown);
}

function told(model: PaymentModel): VNode {
  const { app, deliveries } = model;
  const shown = deliveries.length > 0 ? deliveryTable(app.appId, deliveries) : noDeliveries(model);
  return card({ title: sayText('webhooks'), live: 'webhooks' }, shown);
}

function factPairs({ payment }: PaymentModel): VNode {
  const { payinSeenAt, payoutConfirmedAt, excess, refunded, metadata } = payment;
  const paid = payment.amountReceived !== null;
  return pairs([
    [
      sayText(paid ? 'payerSent' : 'payerPays'),
      html`<span>${sayContent('amountOnChain', { amount: amount(payment.amountReceived ?? payment.sourceAmount, payment.sourceTokenSymbol), chain: chainName(payment.sourceChainId) })}</span>`,
    ],
    [
      payoutWord(payment),
      html`<span>${sayContent('amountOnChain', { amount: amount(payment.destinationAmount, payment.destinationTokenSymbol), chain: chainName(payment.destinationChainId) })}</span>`,
    ],
    differs(payment) ? [sayText('expected'), expectedText(payment)] : null,
    payment.sourceFee === null ? null : [sayText('fee'), amount(payment.sourceFee, payment.sourceTokenSymbol)],
    some(excess) ? [sayText('tooMuchHeld'), amount(excess, payment.sourceTokenSymbol)] : null,
    some(refunded) ? [sayText('sentBack'), amount(refunded, payment.sourceTokenSymbol)] : null,
    payinSeenAt && payoutConfirmedAt
      ? [
          sayText('took'),
          sayContent('tookSeenToPaidOut', { time: lengthText(between(payinSeenAt, payoutConfirmedAt)) }),
        ]
      : null,
    [sayText('created'), html`<span>${when(payment.createdAt)}${payment.keyless && sayContent('withoutKey')}</span>`],
    payment.status === 'payment_unpaid' || payment.status === 'payment_expired'
      ? [sayText(payment.status === 'payment_expired' ? 'ended' : 'ends'), when(payment.expiresAt)]
      : null,
    payment.orderId === null
      ? null
      : [
          sayText('order'),
          copyable(html`<span class="mono">${bdi(payment.orderId)}</span>`, payment.orderId, sayText('orderId')),
        ],
    [
      sayText('payment'),
      copyable(html`<span class="mono">${payment.paymentId}</span>`, payment.paymentId, sayText('paymentIdLabel')),
    ],
    payment.senderAddress === null
      ? null
      : [sayText('payer'), copyable(address(payment.senderAddress), payment.senderAddress, sayText('payerAddress'))],
    [sayText('paidTo'), copyable(address(payment.depositAddress), payment.depositAddress, sayText('depositAddress'))],
    payment.depositMemo === null
      ? null
      : [
          sayText('withMemo'),
          copyable(html`<span class="mono">${payment.depositMemo}</span>`, payment.depositMemo, sayText('memo')),
        ],
    [
      sayText('receiver'),
      copyable(address(payment.receiverAddress), payment.receiverAddress, sayText('receiverAddress')),
    ],
    payment.receiverMemo === null
      ? null
      : [sayText('receiverMemo'), html`<span class="mono">${bdi(payment.receiverMemo)}</span>`],
    metadata === null
      ? null
      : [
          sayText('metadata'),
          html`<details><summary>${sayCount('fieldCount', Object.keys(metadata).length)}</summary><pre class="mono" dir="ltr">
            ${JSON.stringify(metadata, null, 2)}</pre></details>`,
        ],
  ]);
}

/** Money arrived that is not the agreed amount. */
const differs = ({ amountCame, amountDelta }: PaymentView): boolean =>
  Number(amountCame) > 0 && amountDelta !== null && Number(amountDelta) !== 0;

function expectedText({ amountExpected, amountCame, amountDelta, sourceTokenSymbol }: PaymentView): VNode {
  const isLess = amountDelta?.startsWith('-') ?? false;
  return html`<span>${sayContent(isLess ? 'cameTooLittle' : 'cameTooMuch', {
    expected: amount(amountExpected, sourceTokenSymbol),
    came: amount(amountCame, sourceTokenSymbol),
    delta: grouped(isLess ? (amountDelta ?? '').slice(1) : (amountDelta ?? '')),
  })}</span>`;
}

const endedOtherwise = ({ status }: PaymentView): boolean =>
  status === 'payment_expired' || status === 'payment_bounced' || status === 'payment_refunded';

function payoutWord(payment: PaymentView): string {
  if (payment.payoutConfirmedAt !== null) return sayText('wasPaidOut');
  return sayText(endedOtherwise(payment) ? 'notPaidOut' : 'toBePaidOut');
}

const some = (amount: string | null): boolean => amount !== null && Number(amount) > 0;

const kinds = { payin: 'payment', payout: 'payout', refund: 'refund' } as const;

const stages: Readonly<Record<PaymentTransaction['status'], readonly [State, PlainName]>> = {
  detected: ['wait', 'seen'],
  confirmed: ['ok', 'final'],
  orphaned: ['bad', 'leftTheChain'],
  lost: ['bad', 'vanished'],
  live: ['wait', 'sent'],
  lapsed: ['idle', 'lapsed'],
  dead: ['idle', 'dead'],
  short: ['bad', 'tooLittleArrived'],
  settled: ['ok', 'final'],
};

function stageChip({ status }: PaymentTransaction): VNode {
  const [state, word] = stages[status];
  return chip(state, sayText(word));
}

const transactionTable = ({ transactions, mode }: PaymentModel): VNode =>
  table(
    sayText('transactions'),
    [
      { head: sayText('whatColumn'), kind: 'title' },
      { head: sayText('transaction'), kind: 'detail' },
      { head: sayText('fromAndTo'), kind: 'detail' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('when'), kind: 'when' },
      { head: sayText('amount'), kind: 'number' },
    ],
    transactions.map((transaction) => [
      html`<span>${sayContent('kindOnChain', { kind: html`<strong>${sayContent(kinds[transaction.kind])}</strong>`, chain: chainName(transaction.chainId) })}
        ${
          transaction.blockNumber !== null &&
          html`<small class="below">${sayContent('block', { number: grouped(transaction.blockNumber) })}</small>`
        }</span>`,
      transactionLink(mode, transaction.chainId, transaction.txHash),
      html`<span dir="ltr">${shortAddress(transaction.fromAddress)} → ${shortAddress(transaction.toAddress)}</span>`,
      stageChip(transaction),
      when(transaction.at),
      amount(transaction.amount, transaction.tokenSymbol),
    ]),
  );

const noTransactions = (): VNode => empty(sayText('nothingOnChain'), sayContent('nothingOnChainText'));

function noDeliveries({ payment }: PaymentModel): VNode {
  if (payment.webhookUrl === null) {
    return empty(sayText('noWebhookHere'), sayContent('noWebhookHereText'));
  }
  if (endedOtherwise(payment)) {
    return empty(sayText('noneIsSent'), sayContent('noneIsSentText'));
  }
  const url = html`<span class="mono">${payment.webhookUrl}</span>`;
  return empty(sayText('noneSentYet'), html`<span>${sayContent('noneSentYetText', { url })}</span>`);
}

// Independent proof of a payment: evidence to check offline, and the payment at earlier times.

/** Time of the displayed state. Its form has the field `asOf`. */
export interface Moment {
  /** Null: now. */
  readonly at: Instant | null;
  readonly form: FormState;
}

interface ProofModel extends Pick<Frame, 'app'> {
  readonly payment: PaymentView;
  readonly moment: Moment;
}

const proofCard = ({ app, payment, moment: { form } }: ProofModel): VNode => {
  const to = appPaths(app.appId);
  return card(
    {
      title: sayText('proof'),
      controls: linkButton(to.evidence(payment.paymentId), sayContent('downloadEvidence')),
    },
    inside(html`<div class="stack">
      <p>${sayContent('evidenceText')}</p>
      <form class="filters" method="get" action=${to.payment(payment.paymentId)}>
        ${textField({ form, name: 'asOf', label: sayText('asItWas'), type: 'datetime-local', optional: true })}
        <div class="controls">${submit(sayContent('show'), 'plain')}</div>
      </form>
    </div>`),
  );
};

/** Prevents mistaking a past state for the current one. */
const pastNotice = ({ app, payment }: ProofModel, at: Instant): VNode =>
  notice(
    'wait',
    html`<div class="stack"><p>${sayContent('pastText', { time: when(at) })}</p>
      <p>${linkButton(appPaths(app.appId).payment(payment.paymentId), sayContent('showAsNow'))}</p></div>`,
  );
