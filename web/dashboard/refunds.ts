/** Held and refunded money of a payment: a card of its page, and the order form. */

import type { VNode } from 'preact';
import Type, { type Static } from 'typebox';
import type { Ids } from '../../commands/ports.ts';
import type { AskedRefund, RefundedPayment, Refunds } from '../../commands/refunds.ts';
import { chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PricedRefund, RefundableMoney } from '../../domain/payment/refundOrder.ts';
import type { PaymentView, RefundStatus } from '../../domain/payment/view.ts';
import type { Accounts, ToConfirm } from '../../src/accounts/accounts.ts';
import { scopeOf } from '../../src/api/routes/refunds.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, copyable, inside, notice, pairs, type State } from '../parts/boxes.ts';
import {
  address,
  amount,
  amountText,
  chainName,
  grouped,
  paymentName,
  shortAddress,
  transactionLink,
  when,
} from '../parts/cells.ts';
import {
  choiceField,
  copyButton,
  emptyForm,
  type FormState,
  linkButton,
  problems,
  selectField,
  submit,
  textField,
} from '../parts/field.ts';
import type { Frame, Site } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths, mailLink } from '../parts/paths.ts';
import { type PlainName, sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { entry, fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { askerOf, mailboxNote } from './signIn.ts';

export interface RefundsModel extends Frame {
  readonly payment: PaymentView;
  readonly held: readonly RefundableMoney[];
  /** Page on which the payer sets a refund address. */
  readonly link: string | null;
}

/** Empty without held money and refunds. */
export function refundsCard(model: RefundsModel): VNode {
  const { app, payment, held } = model;
  const some = held.length > 0 || payment.refunds.length > 0;
  if (!some) return html`<div id="refunds" data-live="part"></div>`;
  const can = !payment.keyless && held.some(({ proven }) => proven > 0n);
  const controls = can && linkButton(appPaths(app.appId).refund(payment.paymentId), sayContent('sendBackMenu'));
  return card(
    { title: sayText('heldAndSentBack'), live: 'refunds', controls },
    html`<div>
      ${held.length > 0 && heldTable(held)}
      ${held.length > 0 && !can && inside(whatToDo(model))}
      ${payment.refunds.length > 0 && refundTable(model)}
    </div>`,
  );
}

const reasons: Readonly<Record<RefundableMoney['reason'], PlainName>> = {
  bounced: 'heldBounced',
  excess: 'heldExcess',
  held: 'heldUncounted',
};

export const heldTable = (held: readonly RefundableMoney[]): VNode =>
  table(
    sayText('heldMoney'),
    [
      { head: sayText('why'), kind: 'title' },
      { head: sayText('on'), kind: 'detail' },
      { head: sayText('withProvenAddress'), kind: 'detail' },
      { head: sayText('sendingCosts'), kind: 'detail' },
      { head: sayText('held'), kind: 'number' },
    ],
    held.map(({ reason, chainId, token, amount: all, proven, networkFee }) => [
      html`<strong>${sayContent(reasons[reason])}</strong>`,
      chainName(chainId),
      amount(formatAmount(proven, token.decimals), token.symbol),
      networkFee === null ? sayContent('costUnknown') : amount(formatAmount(networkFee, token.decimals), token.symbol),
      amount(formatAmount(all, token.decimals), token.symbol),
    ]),
  );

function whatToDo({ payment, link }: RefundsModel): Content {
  if (payment.keyless) return notice('wait', html`<p>${sayContent('operatorSendsBack')}</p>`);
  return notice(
    'wait',
    html`<div class="rows"><p><strong>${sayContent('nobodyProved')}</strong> ${sayContent('nobodyProvedText')}</p>
    ${link !== null && html`<p>${copyable(html`<span class="mono">${link}</span>`, link, sayText('link'))}</p>`}
    ${link !== null && askForAddress(payment, link)}</div>`,
  );
}

/** A text that asks the payer for a refund address: to mail, or to copy. */
function askForAddress(payment: PaymentView, link: string): Content {
  const money = (payment.held ?? []).map(({ amount: all, tokenSymbol }) => amountText(all, tokenSymbol)).join(' + ');
  const name = paymentName(payment);
  const text = sayText('askMailText', { amount: money || sayText('someMoney'), name, link });
  return html`<div class="rows"><p class="controls">
    ${linkButton(mailLink(sayText('askMailSubject', { name }), text), sayContent('askForAddress'), 'plain', 'mail')}
    ${copyButton(text, sayText('text'))}</p></div>`;
}

const states: Readonly<Record<RefundStatus, readonly [State, PlainName]>> = {
  ordered: ['wait', 'refundStateOrdered'],
  sent: ['wait', 'refundStateSent'],
  completed: ['ok', 'refundStateFinal'],
  calledOff: ['idle', 'refundStateCalledOff'],
};

function refundChip(status: RefundStatus): VNode {
  const [state, word] = states[status];
  return chip(state, sayText(word));
}

const refundTable = ({ payment, mode }: RefundsModel): VNode =>
  table(
    sayText('refunds'),
    [
      { head: sayText('refund'), kind: 'title' },
      { head: sayText('to'), kind: 'detail' },
      { head: sayText('transaction'), kind: 'detail' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('orderedAt'), kind: 'when' },
      { head: sayText('amount'), kind: 'number' },
    ],
    payment.refunds.map((refund) => [
      html`<strong>${sayContent('refundNumber', { number: refund.refund })}</strong>`,
      html`<span>${sayContent('addressOnChain', { address: shortAddress(refund.receiverAddress), chain: chainName(refund.chainId) })}</span>`,
      refund.txHash === null ? null : transactionLink(mode, refund.chainId, refund.txHash),
      refundChip(refund.status),
      when(refund.requestedAt),
      html`<span>${amount(refund.amount, refund.tokenSymbol)} <small class="muted">${sayContent('lessToSend', { fee: grouped(refund.networkFee) })}</small></span>`,
    ]),
  );

export interface RefundFormModel extends Frame {
  readonly paymentId: string;
  readonly held: readonly RefundableMoney[];
  /** Fields: scope, asset, amount, reason. */
  readonly form: FormState;
}

/** Form value: `8453 0x833…`. */
export const assetValue = ({ chainId, token }: Pick<RefundableMoney, 'chainId' | 'token'>): string =>
  `${chainId} ${token.address}`;

const scopes = () => [
  { value: 'all', label: sayText('scopeAll'), hint: sayText('scopeAllHint') },
  { value: 'excess', label: sayText('scopeExcess'), hint: sayText('scopeExcessHint') },
  { value: 'part', label: sayText('scopePart'), hint: sayText('scopePartHint') },
];

/** Orders a refund in two steps. POST: scope, asset, amount, reason; then the same with key, challenge and the mailed code. */
export function refundFormPage(model: RefundFormModel): VNode {
  const { app, paymentId, held, form } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: sayText('sendMoneyBack'),
      section: 'payments',
      up: { href: to.payment(paymentId), label: sayText('payment') },
    },
    html`<div class="stack narrow">
      ${card({ title: sayText('whatIsHeld') }, heldTable(held))}
      ${card(
        { title: sayText('whatGoesBack') },
        html`<form class="inside" method="post" action=${to.refund(paymentId)}>
          ${problems(form)}
          ${choiceField({ form, name: 'scope', label: sayText('howMuch'), options: scopes() })}
          ${selectField({ form, name: 'asset', label: sayText('partToken'), options: held.map((each) => ({ value: assetValue(each), label: sayText('onChain', { token: each.token.symbol, chain: chainName(each.chainId) }) })) })}
          ${textField({ form, name: 'amount', label: sayText('partAmount'), hint: sayContent('partAmountHint'), inputmode: 'decimal', maxlength: 40, optional: true, mono: true })}
          ${textField({ form, name: 'reason', label: sayText('why'), hint: sayContent('whyHint'), maxlength: 400, optional: true })}
          <p class="small muted">${sayContent('refundGoesTo')}</p>
          ${submit(sayContent('goOn'))}
        </form>`,
      )}
    </div>`,
  );
}

export interface ConfirmRefundModel extends Frame {
  readonly paymentId: string;
  readonly planned: readonly PricedRefund[];
  /** The order that the code confirms, repeated in the form. */
  readonly order: Readonly<Record<string, string>>;
  /** Fields: code. */
  readonly form: FormState;
  /** Mailbox of the sandbox. */
  readonly mailboxUrl: string | null;
}

export function confirmRefundPage(model: ConfirmRefundModel): VNode {
  const { app, paymentId, planned, order, form, mailboxUrl } = model;
  const to = appPaths(app.appId);
  return appPage(
    model,
    {
      title: sayText('confirmRefund'),
      section: 'payments',
      up: { href: to.payment(paymentId), label: sayText('payment') },
    },
    html`<div class="stack narrow">
      ${planned.map((each) => card({ title: sayText('refundOnChain', { chain: chainName(each.chainId) }) }, inside(plannedPairs(each))))}
      <section class="card"><form class="inside" method="post" action=${to.confirmRefund(paymentId)}>
        ${problems(form)}
        ${notice('wait', html`<p>${sayContent('cannotBeFetchedBack')}</p>`)}
        ${Object.entries(order).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
        ${textField({ form, name: 'code', label: sayText('code'), autocomplete: 'one-time-code', inputmode: 'numeric', pattern: ' *([0-9] *){6,8}', maxlength: 16, mono: true, focus: true, hint: sayContent('refundCodeHint') })}
        <div class="controls">${submit(sayContent('sendItBack'), 'danger')}${linkButton(to.payment(paymentId), sayContent('leaveIt'))}</div>
      </form>${mailboxUrl !== null && mailboxNote(mailboxUrl)}</section>
    </div>`,
  );
}

const plannedPairs = ({ amount: all, networkFee, token, receiver }: PricedRefund): VNode =>
  pairs([
    [sayText('isSent'), amount(formatAmount(all - networkFee, token.decimals), token.symbol)],
    [sayText('sendingCosts'), amount(formatAmount(networkFee, token.decimals), token.symbol)],
    [sayText('to'), address(receiver.address)],
    receiver.memo === null ? null : [sayText('memo'), html`<span class="mono">${receiver.memo}</span>`],
  ]);

// An owner refunds held money of a payment: the amount, then the mailed code for exactly that.

/** Needs of the pages of refunds. */
export interface RefundPagesDeps {
  readonly refunds: Refunds;
  readonly accounts: Accounts;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly site: Site;
}

const path = '/dashboard/apps/{appId}/payments/{paymentId}/refund';
const params = Type.Object({ paymentId: Uuid });

const orderFields = {
  scope: Type.Union([Type.Literal('all'), Type.Literal('excess'), Type.Literal('part')]),
  asset: Type.Optional(Type.String({ pattern: '^[0-9]{1,6} [!-~]{1,128}$', description: 'one of the list' })),
  amount: Type.Optional(
    Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', maxLength: 60, description: 'an amount like 10.00' }),
  ),
  reason: Type.Optional(entry(400)),
};
const Order = fields(orderFields);
const Confirmed = fields({ ...orderFields, key: Uuid, challenge: entry(128), code: entry(20) });
type Order = Static<typeof Order>;

type Visitor = Visit<'owner', { readonly paymentId: string }>;
const of = ({ visitor: { appId }, params: { paymentId } }: Visitor): RefundedPayment => ({ appId, paymentId });

/** The fields of a part only count for a part: the form always has them. */
function askedRefund({ scope, asset, amount, reason }: Order, key: string): AskedRefund | Refusal {
  const [chainId, tokenAddress] = asset?.split(' ') ?? [];
  const wanted = scopeOf({ scope, ...(scope === 'part' && { chainId, tokenAddress, amount }) } as Parameters<
    typeof scopeOf
  >[0]);
  if (isRefusal(wanted)) return wanted;
  return { scope: wanted, to: 'proven', by: 'owner', note: reason ?? null, key };
}

export function refundPages(deps: RefundPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { refunds, accounts, ids, site } = deps;
  const asking = async (visit: Visitor, state: FormState): Promise<PageResult> => {
    const payment = await refunds.payment(of(visit));
    if (!payment) throw noSuchPage();
    const held = await refunds.held(payment);
    const { paymentId } = visit.params;
    return { page: refundFormPage({ ...(await frames.ofApp(visit)), paymentId, held, form: state }) };
  };
  const confirming = async (
    visit: Visitor,
    planned: readonly PricedRefund[],
    order: Readonly<Record<string, string>>,
    state: FormState,
  ): Promise<PageResult> => ({
    page: confirmRefundPage({
      ...(await frames.ofApp(visit)),
      paymentId: visit.params.paymentId,
      planned,
      order,
      form: state,
      mailboxUrl: site.mailboxUrl,
    }),
  });
  const pointers = { '/chainId': 'asset', '/tokenAddress': 'asset' };
  return [
    page({ path, audience: 'owner', params, show: (visit) => asking(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      params,
      fields: Order,
      pointers,
      async act(visit) {
        const key = ids.eventId();
        const asked = askedRefund(visit.fields, key);
        if (isRefusal(asked)) return asked;
        const planned = await refunds.preview(of(visit), asked, visit.by);
        if (isRefusal(planned)) return planned;
        const { developerId } = visit.visitor;
        const told = toConfirm(visit, visit.fields, key, planned);
        const challenged = await accounts.askToConfirm(developerId, told, askerOf(visit));
        if (isRefusal(challenged)) return challenged;
        return confirming(visit, planned, { ...visit.fields, key, challenge: challenged.challenge }, emptyForm);
      },
      again: asking,
    }),
    form({
      path: `${path}/confirm`,
      audience: 'owner',
      params,
      fields: Confirmed,
      pointers,
      async act(visit) {
        const { key, challenge, code, ...order } = visit.fields;
        const asked = askedRefund(order, key);
        if (isRefusal(asked)) return asked;
        const { appId, developerId } = visit.visitor;
        const { paymentId } = visit.params;
        const planned = await refunds.preview({ appId, paymentId }, asked, visit.by);
        if (isRefusal(planned)) return planned;
        const thing = thingOf(visit, order, key, planned);
        const confirmed = await accounts.confirm(developerId, challenge, code.replaceAll(/\s/g, ''), thing);
        if (isRefusal(confirmed)) return { ...confirmed, pointer: '/code' };
        const ordered = await refunds.order({ appId, paymentId }, asked, visit.by);
        return isRefusal(ordered) ? ordered : { to: appPaths(appId).payment(paymentId), told: 'refundOrdered' };
      },
      // A code is never returned.
      async again(visit, { values, errors }) {
        const { code: _, ...order } = values;
        const asked = askedRefund(order as Order, order['key'] ?? '');
        const planned = isRefusal(asked) ? asked : await refunds.preview(of(visit), asked, visit.by);
        return isRefusal(planned)
          ? asking(visit, { values: order, errors })
          : confirming(visit, planned, order, { values: {}, errors });
      },
    }),
  ];
}

/** Exact text of the order: another amount, receiver, payment or key is another action. */
function thingOf(
  { visitor: { appId }, params: { paymentId } }: Visitor,
  { scope, asset = '', amount = '' }: Order,
  key: string,
  planned: readonly PricedRefund[],
): string {
  const goes = planned.map(({ chainId, token, receiver, amount: all }) => [
    chainId,
    token.address,
    receiver,
    String(all),
  ]);
  return JSON.stringify(['refund', appId, paymentId, scope, asset, amount, key, goes]);
}

const toConfirm = (visit: Visitor, order: Order, key: string, planned: readonly PricedRefund[]): ToConfirm => ({
  thing: thingOf(visit, order, key, planned),
  words: `It sends back, of payment ${visit.params.paymentId} of ${visit.visitor.appId}: ${planned.map(sentence).join('; ')}.`,
});

const sentence = ({ amount, networkFee, token, chainId, receiver }: PricedRefund): string =>
  `${formatAmount(amount - networkFee, token.decimals)} ${token.symbol} on ${chainOf(chainId).name} to ${receiver.address}`;
