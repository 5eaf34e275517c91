/**
 * Creates a payment and leads to its page. POST: nonce, type, amount, sourceChainId, sourceTokenSymbol, orderId, title, description; for a
 * wallet app also destinationChainId, destinationTokenSymbol, receiverAddress, receiverMemo.
 */

import type { VNode } from 'preact';
import Type, { type Static } from 'typebox';
import type { NewPayment } from '../../commands/createPayment.ts';
import type { Ids } from '../../commands/ports.ts';
import type { Chain } from '../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import type { PaymentCreation } from '../../src/api/routes/createPayment.ts';
import { ChainId, Decimal, PaymentType, TokenSymbol, Uuid } from '../../src/api/schemas/base.ts';
import { card } from '../parts/boxes.ts';
import { grouped } from '../parts/cells.ts';
import {
  chainOptions,
  choiceField,
  emptyForm,
  type FormState,
  problems,
  selectField,
  submit,
  textField,
  tokenOptions,
  walletFields,
} from '../parts/field.ts';
import type { Frame, Site } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { displayEntry, entry, fields } from './forms.ts';
import { typeOptions } from './links.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { paidOutTo, settlementFirst, type WalletFields } from './settlementForm.ts';

export interface NewLinkModel extends Frame {
  readonly form: FormState;
  /** Specific to this form: a repeated submit makes one payment. */
  readonly nonce: string;
  /** Chains on which the payer can pay. */
  readonly chains: readonly Chain[];
  /** Settlement wallet. A merchant app without one can make no payment; a wallet app states the receiver in the form. */
  readonly settlement: WalletFields | null;
  /** True for a wallet app: each payment names its receiver. */
  readonly asksReceiver: boolean;
}

export const newLinkPage = (model: NewLinkModel): VNode => {
  const ready = model.settlement !== null || model.asksReceiver;
  return appPage(
    model,
    {
      title: sayText('newPayment'),
      section: 'payments',
      up: { href: appPaths(model.app.appId).payments, label: sayText('payments') },
    },
    html`<div class="stack narrow">
      ${ready ? card({ title: sayText('toBePaidOnce') }, linkForm(model)) : settlementFirst(model.app.appId)}
    </div>`,
  );
};

const receiver = {
  chain: 'destinationChainId',
  token: 'destinationTokenSymbol',
  address: 'receiverAddress',
  memo: 'receiverMemo',
};

const linkForm = ({ app, form, nonce, chains, settlement, asksReceiver }: NewLinkModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).newLink}>
    ${problems(form)}
    <input type="hidden" name="nonce" value=${nonce} />
    ${textField({
      form,
      name: 'amount',
      label: sayText('amount'),
      inputmode: 'decimal',
      maxlength: 30,
      pattern: ' *[0-9]+([.][0-9]+)? *',
      placeholder: '10.00',
      focus: true,
      optional: true,
      hint: sayContent('amountLeftEmpty'),
    })}
    ${choiceField({ form, name: 'type', label: sayText('amountMeaning'), options: [...typeOptions(), payerDecides()] })}
    <div class="columns">
      ${selectField({ form, name: 'sourceChainId', label: sayText('paidOn'), options: chainOptions(chains) })}
      ${selectField({ form, name: 'sourceTokenSymbol', label: sayText('token'), options: tokenOptions(chains) })}
    </div>
    ${asksReceiver ? receiverFields(form, chains) : settlement && paidOutTo(settlement)}
    ${textField({
      form,
      name: 'orderId',
      label: sayText('order'),
      optional: true,
      maxlength: 128,
      hint: sayContent('orderHint'),
    })}
    ${textField({ form, name: 'title', label: sayText('title'), optional: true, maxlength: 200, hint: sayContent('payerSeesIt') })}
    ${textField({ form, name: 'description', label: sayText('description'), optional: true, maxlength: 1000 })}
    ${submit(sayContent('makeThePayment'))}
  </form>`;

const payerDecides = () => ({
  value: 'anyAmount',
  label: sayText('payerDecides'),
  hint: sayText('payerDecidesHint', { least: grouped('0.02'), most: grouped('10000') }),
});

const receiverFields = (form: FormState, chains: readonly Chain[]): VNode =>
  html`<fieldset class="field"><legend>${sayContent('whoReceives')}</legend>${walletFields(form, receiver, chains)}</fieldset>`;

// A payment created by form: the same command and terms as with a key.

/** Needs of the pages of a new payment. */
export interface NewLinkPagesDeps extends Pick<PaymentCreation, 'createPayment'>, Pick<AccessDeps, 'findApp'> {
  readonly ids: Pick<Ids, 'eventId'>;
  readonly site: Site;
}

const path = '/dashboard/apps/{appId}/links/new';

const Link = fields({
  nonce: Type.Optional(Uuid),
  type: Type.Optional(PaymentType),
  amount: Type.Optional(Decimal),
  sourceChainId: ChainId,
  sourceTokenSymbol: TokenSymbol,
  orderId: Type.Optional(entry(128)),
  title: Type.Optional(displayEntry(200)),
  description: Type.Optional(displayEntry(1_000)),
  destinationChainId: Type.Optional(ChainId),
  destinationTokenSymbol: Type.Optional(TokenSymbol),
  receiverAddress: Type.Optional(entry(128)),
  receiverMemo: Type.Optional(entry(128)),
});

const pointers = {
  '/destination/amount': 'amount',
  '/source/amount': 'amount',
  '/source/chainId': 'sourceChainId',
  '/source/tokenSymbol': 'sourceTokenSymbol',
  '/display/title': 'title',
  '/display/description': 'description',
  '/destination/chainId': 'destinationChainId',
  '/destination/tokenSymbol': 'destinationTokenSymbol',
  '/destination/receiverAddress': 'receiverAddress',
  '/destination/receiverMemo': 'receiverMemo',
};

const isWalletApp = (appId: string): boolean => appId.startsWith('wallet_');

export function newLinkPages(deps: NewLinkPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { createPayment, findApp, ids, site } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const { appId } = visit.visitor;
    const [frame, app] = await Promise.all([frames.ofApp(visit), findApp(appId)]);
    const { chains } = site;
    const settlement = app?.settlement ?? null;
    const model = { form: state, nonce: ids.eventId(), chains, settlement, asksReceiver: isWalletApp(appId) };
    return { page: newLinkPage({ ...frame, ...model }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Link,
      pointers,
      async act({ visitor: { appId }, fields: sent, by }) {
        const app = await findApp(appId);
        if (!app) throw noSuchPage();
        const asked = paymentOf(appId, sent);
        if (isRefusal(asked)) return asked;
        const created = await createPayment(asked, app, { keyless: false, ...by });
        if (isRefusal(created)) return created;
        const told = created.createdNow ? 'linkMade' : 'orderKnown';
        return { to: appPaths(appId).payment(created.payment.terms.paymentId), told };
      },
      again: shown,
    }),
  ];
}

/** Without the merchant's own order id, it is derived from the form: a repeated submit makes one payment. */
function paymentOf(appId: string, sent: Static<typeof Link>): NewPayment | Refusal {
  const { nonce, type = 'exactOut', amount, title = null, description = null } = sent;
  if (type !== 'anyAmount' && amount === undefined) return refuse('invalidRequest', 'say how much it is', '/amount');
  if (type === 'anyAmount' && amount !== undefined)
    return refuse('invalidRequest', 'leave it empty: the payer decides', '/amount');
  const receiver = {
    chainId: sent.destinationChainId,
    tokenSymbol: sent.destinationTokenSymbol,
    receiverAddress: sent.receiverAddress,
    receiverMemo: sent.receiverMemo,
  };
  return {
    appId,
    orderId: sent.orderId ?? (nonce === undefined ? null : `link-${nonce.replaceAll('-', '').slice(0, 20)}`),
    type,
    intent: null,
    display: { title, description, currency: 'USD' },
    metadata: null,
    source: {
      chainId: sent.sourceChainId,
      tokenSymbol: sent.sourceTokenSymbol,
      ...(type === 'exactIn' && { amount }),
    },
    destination: { ...(type === 'exactOut' && { amount }), ...(isWalletApp(appId) && receiver) },
  };
}
