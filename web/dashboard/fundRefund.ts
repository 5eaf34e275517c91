/** Refunds of money that was paid out: the app pays them again by a payment of its own. And refund addresses that an owner confirms. */
import type { VNode } from 'preact';
import Type from 'typebox';
import type { FundedRefundFacts, FundedRefunds, PayerOfRefund } from '../../commands/fundedRefunds.ts';
import type { AppSettings } from '../../commands/paymentRequest.ts';
import type { Ids } from '../../commands/ports.ts';
import { isRefusal } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import type { FundedRefund } from '../../domain/payment/fundedRefund.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { card, chip, copyable, inside, notice } from '../parts/boxes.ts';
import { amount, amountText, chainName, shortAddress, shortText, when } from '../parts/cells.ts';
import { emptyForm, type FormState, linkButton, problems, selectField, submit, textField } from '../parts/field.ts';
import type { Frame, Site } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { entry, fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { askerOf, mailboxNote } from './signIn.ts';

export interface FundedModel extends Frame {
  readonly payment: PaymentView;
  /** Null for a view of the past. */
  readonly funded: FundedRefundFacts | null;
  /** The payment page; null without one. */
  readonly link: string | null;
}

/** Empty if there is nothing to refund with new money and nothing was confirmed. */
export function fundedCard({ app, payment, funded, link }: FundedModel): VNode {
  const payers = funded?.payers ?? [];
  const refunds = funded?.refunds ?? [];
  const some = payers.some((each) => each.fundable !== null || each.confirmed !== null) || refunds.length > 0;
  const held = payment.held !== null && payers.some(({ receiver }) => receiver === null);
  if (!funded || !(some || held)) return html`<div id="funded" data-live="part"></div>`;
  const to = appPaths(app.appId);
  const can = payers.some(({ fundable, receiver }) => fundable !== null && receiver !== null);
  const waits = payers.some(({ fundable, receiver }) => fundable !== null && receiver === null);
  const controls = html`<span class="controls">
    ${can && linkButton(to.fundRefund(payment.paymentId), sayContent('fundMenu'))}
    ${payers.some(({ receiver }) => receiver === null) && linkButton(to.confirmAddress(payment.paymentId), sayContent('confirmAddressMenu'))}</span>`;
  return card(
    { title: sayText('refundNewMoney'), live: 'funded', controls },
    html`<div>
      ${waits && inside(noAddress(link))}
      ${payers.some(({ confirmed }) => confirmed !== null) && confirmedTable(app.appId, payment.paymentId, funded)}
      ${refunds.length > 0 && refundTable(app.appId, refunds)}
      ${refunds.length === 0 && can && inside(html`<p class="muted">${sayContent('refundNewMoneyText')}</p>`)}
    </div>`,
  );
}

const noAddress = (link: string | null): VNode =>
  notice(
    'wait',
    html`<div class="rows"><p>${sayContent('needAddress')}</p>
    ${link !== null && html`<p>${copyable(html`<span class="mono">${link}/refund</span>`, `${link}/refund`, sayText('link'))}</p>`}
    <p>${sayContent('exchangeCannotSign')}</p></div>`,
  );

const confirmedTable = (appId: string, paymentId: string, { payers, now }: FundedRefundFacts): VNode =>
  table(
    sayText('confirmedAddresses'),
    [
      { head: sayText('address'), kind: 'title' },
      { head: sayText('forSender'), kind: 'detail' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('fromTime'), kind: 'when' },
      { head: sayText('withdrawAddress'), kind: 'action' },
    ],
    payers.flatMap(({ confirmed, sender, chainId }) =>
      confirmed === null
        ? []
        : [
            [
              html`<span class="mono">${confirmed.address}</span>`,
              html`<span>${sayContent('addressOnChain', { address: shortAddress(sender), chain: chainName(chainId) })}</span>`,
              now < confirmed.effectiveAt
                ? chip('wait', sayText('addressWaits'))
                : chip('ok', sayText('addressInForce')),
              when(confirmed.effectiveAt),
              html`<form method="post" action=${appPaths(appId).withdrawAddress(paymentId)}><input type="hidden" name="number" value=${confirmed.number} />${submit(sayContent('withdrawAddress'), 'danger')}</form>`,
            ],
          ],
    ),
  );

const ending = (outcome: 'paid' | 'unpaid'): VNode =>
  outcome === 'paid' ? chip('ok', sayText('fundedPaid')) : chip('idle', sayText('fundedUnpaid'));

const refundTable = (appId: string, refunds: readonly FundedRefund[]): VNode =>
  table(
    sayText('fundedRefunds'),
    [
      { head: sayText('refund'), kind: 'title' },
      { head: sayText('to'), kind: 'detail' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('orderedAt'), kind: 'when' },
      { head: sayText('amount'), kind: 'number' },
    ],
    refunds.map(({ refund, fundingPaymentId, receiverAddress, chainId, token, amount: units, ended, requestedAt }) => [
      html`<a href=${appPaths(appId).payment(fundingPaymentId)}>${sayContent('refundNumber', { number: refund })}</a>`,
      html`<span>${sayContent('addressOnChain', { address: shortAddress(receiverAddress), chain: chainName(chainId) })}</span>`,
      ended === null ? chip('wait', sayText('waitsForYourPayment')) : ending(ended.outcome),
      when(requestedAt),
      amount(formatAmount(units, token.decimals), token.symbol),
    ]),
  );

export interface FundFormModel extends Frame {
  readonly paymentId: string;
  readonly payers: readonly PayerOfRefund[];
  /** Idempotency key of this form. */
  readonly nonce: string;
  /** Fields: sender, amount, reason. */
  readonly form: FormState;
}

export function fundFormPage(model: FundFormModel): VNode {
  const { app, paymentId, payers, nonce, form: state } = model;
  const to = appPaths(app.appId);
  const ready = payers.filter(({ fundable, receiver }) => fundable !== null && receiver !== null);
  const [first] = ready;
  const values = { ...(first?.fundable && { amount: first.fundable }), ...state.values };
  const filled = { values, errors: state.errors };
  return appPage(
    model,
    {
      title: sayText('fundThisRefund'),
      section: 'payments',
      up: { href: to.payment(paymentId), label: sayText('payment') },
    },
    html`<div class="stack narrow">${card(
      { title: sayText('whatIsRefunded') },
      ready.length === 0
        ? inside(notice('wait', html`<p>${sayContent('nothingToRefund')}</p>`))
        : html`<form class="inside" method="post" action=${to.fundRefund(paymentId)}>
        ${problems(filled)}
        <input type="hidden" name="key" value=${nonce} />
        ${selectField({
          form: filled,
          name: 'sender',
          label: sayText('to'),
          options: ready.map(({ sender, receiver, chainId, fundable, tokenSymbol }) => ({
            value: sender,
            label: sayText('atMostTo', {
              address: shortText(receiver ?? ''),
              chain: chainName(chainId),
              amount: amountText(fundable, tokenSymbol),
            }),
          })),
        })}
        ${textField({ form: filled, name: 'amount', label: sayText('amount'), hint: sayContent('fundAmountHint'), inputmode: 'decimal', maxlength: 60, mono: true })}
        ${textField({ form: filled, name: 'reason', label: sayText('reason'), hint: sayContent('reasonHint'), maxlength: 400, optional: true })}
        <p class="small muted">${sayContent('fundText')}</p>
        ${submit(sayContent('makeTheLink'))}
      </form>`,
    )}</div>`,
  );
}

export interface ConfirmAddressModel extends Frame {
  readonly paymentId: string;
  readonly payers: readonly PayerOfRefund[];
  readonly delay_hours: number;
  /** Fields: transferId, address, memo; with a challenge also the code. */
  readonly form: FormState;
  /** Identifies the mailed code; null before it. */
  readonly challenge: string | null;
  /** Mailbox of the sandbox. */
  readonly mailboxUrl: string | null;
}

export function confirmAddressPage(model: ConfirmAddressModel): VNode {
  const { app, paymentId, payers, delay_hours, form: state, challenge, mailboxUrl } = model;
  const to = appPaths(app.appId);
  const coded = challenge !== null;
  return appPage(
    model,
    {
      title: sayText('confirmAddressTitle'),
      section: 'payments',
      up: { href: to.payment(paymentId), label: sayText('payment') },
    },
    html`<div class="stack narrow"><section class="card"><form class="inside" method="post" action=${coded ? to.confirmAddressCode(paymentId) : to.confirmAddress(paymentId)}>
      ${problems(state)}
      ${notice('wait', html`<p>${sayContent('youAnswerFor', { hours: delay_hours })}</p>`)}
      ${
        coded
          ? html`<div class="rows">
            ${(['transferId', 'address', 'memo'] as const).map((name) => state.values[name] !== undefined && html`<input type="hidden" name=${name} value=${state.values[name]} />`)}
            <input type="hidden" name="challenge" value=${challenge} />
            <p>${sayContent('addressIs', { address: html`<span class="mono">${state.values['address']}</span>` })}</p>
            ${textField({ form: { values: {}, errors: state.errors }, name: 'code', label: sayText('code'), autocomplete: 'one-time-code', inputmode: 'numeric', pattern: ' *([0-9] *){6,8}', maxlength: 16, mono: true, focus: true, hint: sayContent('addressCodeHint') })}</div>`
          : html`<div class="rows">
            ${selectField({
              form: state,
              name: 'transferId',
              label: sayText('sender'),
              options: payers.map(({ transferId, sender, chainId }) => ({
                value: transferId,
                label: sayText('addressOnChain', { address: shortText(sender), chain: chainName(chainId) }),
              })),
            })}
            ${textField({ form: state, name: 'address', label: sayText('addressOfPayer'), hint: sayContent('addressOfPayerHint'), maxlength: 128, mono: true })}
            ${textField({ form: state, name: 'memo', label: sayText('memo'), maxlength: 128, optional: true })}</div>`
      }
      <div class="controls">${submit(sayContent(coded ? 'confirmTheAddress' : 'continue'), coded ? 'danger' : 'primary')}${linkButton(to.payment(paymentId), sayContent('cancel'))}</div>
    </form>${coded && mailboxUrl !== null && mailboxNote(mailboxUrl)}</section></div>`,
  );
}

/** Needs of these pages. */
export interface FundRefundPagesDeps {
  readonly fundedRefunds: FundedRefunds;
  readonly findApp: (appId: string) => Promise<AppSettings | null>;
  readonly accounts: Accounts;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly site: Site;
}

const path = '/dashboard/apps/{appId}/payments/{paymentId}';
const params = Type.Object({ paymentId: Uuid });
type Visitor = Visit<'owner', { readonly paymentId: string }>;

const Fund = fields({
  sender: entry(128),
  amount: Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', maxLength: 60, description: 'an amount like 10.00' }),
  reason: Type.Optional(entry(400)),
  key: Uuid,
});
const addressFields = { transferId: entry(200), address: entry(128), memo: Type.Optional(entry(128)) };

export function fundRefundPages(deps: FundRefundPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { fundedRefunds, findApp, accounts, ids, site } = deps;
  const factsOf = async ({ visitor: { appId }, params: { paymentId } }: Visitor): Promise<FundedRefundFacts> => {
    const facts = await fundedRefunds.facts(appId, paymentId);
    if (!facts) throw noSuchPage();
    return facts;
  };
  const funding = async (visit: Visitor, state: FormState): Promise<PageResult> => {
    const { payers } = await factsOf(visit);
    const { paymentId } = visit.params;
    const nonce = state.values['key'] ?? ids.eventId();
    return { page: fundFormPage({ ...(await frames.ofApp(visit)), paymentId, payers, nonce, form: state }) };
  };
  const confirming = async (visit: Visitor, state: FormState, challenge: string | null): Promise<PageResult> => {
    const { payers } = await factsOf(visit);
    const { settlementCoolDown_hours: delay_hours, mailboxUrl } = site;
    const facts = { paymentId: visit.params.paymentId, payers, delay_hours, form: state, challenge, mailboxUrl };
    return { page: confirmAddressPage({ ...(await frames.ofApp(visit)), ...facts }) };
  };
  return [
    page({ path: `${path}/fund-refund`, audience: 'owner', params, show: (visit) => funding(visit, emptyForm) }),
    form({
      path: `${path}/fund-refund`,
      audience: 'owner',
      params,
      fields: Fund,
      async act(visit) {
        const { appId } = visit.visitor;
        const app = await findApp(appId);
        if (!app) throw noSuchPage();
        const { reason = null, ...asked } = visit.fields;
        const ordered = await fundedRefunds.order(app, visit.params.paymentId, { ...asked, note: reason }, visit.by);
        if (isRefusal(ordered)) return ordered;
        return { to: appPaths(appId).payment(ordered.fundingPaymentId), told: 'refundToFund' };
      },
      again: funding,
    }),
    page({
      path: `${path}/confirm-address`,
      audience: 'owner',
      params,
      show: (visit) => confirming(visit, emptyForm, null),
    }),
    form({
      path: `${path}/confirm-address`,
      audience: 'owner',
      params,
      fields: fields(addressFields),
      async act(visit) {
        const { appId, developerId } = visit.visitor;
        const checked = await fundedRefunds.checkAddress(
          appId,
          visit.params.paymentId,
          askedOf(visit.fields),
          visit.by,
        );
        if (isRefusal(checked)) return checked;
        const told = { thing: thingOf(visit, visit.fields), words: wordsOf(visit, visit.fields) };
        const challenged = await accounts.askToConfirm(developerId, told, askerOf(visit));
        if (isRefusal(challenged)) return challenged;
        return confirming(visit, { values: visit.fields, errors: {} }, challenged.challenge);
      },
      again: (visit, state) => confirming(visit, state, null),
    }),
    form({
      path: `${path}/confirm-address/code`,
      audience: 'owner',
      params,
      fields: fields({ ...addressFields, challenge: entry(128), code: entry(20) }),
      async act(visit) {
        const { challenge, code, ...asked } = visit.fields;
        const { appId, developerId } = visit.visitor;
        const { paymentId } = visit.params;
        const checked = await fundedRefunds.checkAddress(appId, paymentId, askedOf(asked), visit.by);
        if (isRefusal(checked)) return checked;
        const digits = code.replaceAll(/\s/g, '');
        const confirmed = await accounts.confirm(developerId, challenge, digits, thingOf(visit, asked));
        if (isRefusal(confirmed)) return { ...confirmed, pointer: '/code' };
        const set = await fundedRefunds.confirmAddress(appId, paymentId, askedOf(asked), visit.by);
        return isRefusal(set) ? set : { to: appPaths(appId).payment(paymentId), told: 'addressConfirmed' };
      },
      again(visit, { values, errors }) {
        const { code: _, challenge = null, ...rest } = values;
        return confirming(visit, { values: rest, errors }, challenge);
      },
    }),
    form({
      path: `${path}/confirm-address/withdraw`,
      audience: 'owner',
      params,
      fields: fields({
        number: Type.String({ pattern: '^[1-9][0-9]{0,3}$', description: 'the number of an address' }),
      }),
      async act({ visitor: { appId }, params: { paymentId }, fields: { number }, by }) {
        const withdrawn = await fundedRefunds.withdrawAddress(appId, paymentId, Number(number), by);
        return isRefusal(withdrawn) ? withdrawn : { to: appPaths(appId).payment(paymentId), told: 'addressWithdrawn' };
      },
      again: async ({ visitor: { appId }, params: { paymentId } }) => ({ to: appPaths(appId).payment(paymentId) }),
    }),
  ];
}

interface AddressFields {
  readonly transferId: string;
  readonly address: string;
  readonly memo?: string;
}

const askedOf = ({ transferId, address, memo = '' }: AddressFields) => ({
  ...{ transferId, address },
  memo: memo === '' ? null : memo,
});

/** Exact text of the action: a code for another address, sender or payment does not fit. */
const thingOf = ({ visitor: { appId }, params: { paymentId } }: Visitor, asked: AddressFields): string =>
  JSON.stringify(['refundAddress', appId, paymentId, askedOf(asked)]);

const wordsOf = ({ visitor: { appId }, params: { paymentId } }: Visitor, { address, memo }: AddressFields): string =>
  `It confirms that refunds of payment ${paymentId} of ${appId} may go to ${address}${memo ? ` with memo ${memo}` : ''}.`;
