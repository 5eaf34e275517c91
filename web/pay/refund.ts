/**
 * A payer sets a refund address in two steps without a script: the address, then the signature of a text that names it. GET: from, to,
 * memo, lang. POST: the same, number, signature.
 */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { RefundAddresses } from '../../commands/refundAddress.ts';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { larger } from '../../domain/money.ts';
import type { OwnMoney } from '../../domain/payment/refundOrder.ts';
import { errorOfRefusal } from '../../src/api/errors.ts';
import { payPath } from '../../src/api/resource.ts';
import { entry, fields, refusedForm } from '../dashboard/forms.ts';
import { type AnyForm, type AnyPage, form, type PageResult, page, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import { notice } from '../parts/boxes.ts';
import { address, chainName } from '../parts/cells.ts';
import { emptyForm, type FormState, selectField, submit, textField } from '../parts/field.ts';
import { type Content, html } from '../parts/html.ts';
import { withQuery } from '../parts/paths.ts';
import { costText } from './language.ts';
import { framing, payDocument } from './layout.ts';
import { type PayModel, shopName } from './model.ts';
import { help, line, orderShown } from './parts.ts';
import { type PayModelDeps, payModelOf } from './payModel.ts';
import { signers } from './wallets.ts';

export interface RefundModel extends PayModel {
  /** Values as sent; errors are in the page's language, by field name only. */
  readonly form: FormState;
  /** Text to sign, once an address was given; null before. */
  readonly toSign: {
    readonly text: string;
    readonly number: number;
    readonly sender: string;
    readonly address: string;
    readonly memo: string | null;
    readonly chainId: ChainId;
  } | null;
}

export function refundPage(model: RefundModel): VNode {
  const { say, facts, shop, path } = model;
  const title = say.text('refundTitle');
  const order = orderShown(facts.payment);
  return payDocument(
    { ...model, path: `${path}/refund` },
    { title: shop.name === null ? title : `${title} · ${shop.name}`, shop, order, live: null, sites: model.sites },
    html`<div class="card">
      <section class="ask"><div><h1>${title}</h1><p class="on">${say('refundText', { merchant: shopName(model) })} ${costOf(model)}</p></div></section>
      ${problem(model)}
      ${model.toSign ? signing(model, model.toSign) : asking(model)}
      <section class="ways"><a class="button quiet" href=${`${path}?lang=${say.language}`}>${say('backToPayment')}</a></section>
      ${help(model)}
      <p class="visually-hidden" id="said" data-say=${title}></p>
    </div>`,
  );
}

/** Owners of held money; without any, the senders of money that was paid out, for a refund with new money. */
const ownersIn = ({ owners, refundable = [] }: PayModel['facts']): readonly OwnMoney[] =>
  owners.length > 0 ? owners : refundable;

/** Cost of one transfer on the chain of the money; of the most expensive chain if there are several. */
function costOf({ say, facts, networkOf }: RefundModel): Content {
  const costs = ownersIn(facts).map(({ chainId }) => networkOf(chainId, null).cost_microUsd);
  const known = costs.filter((cost) => cost !== null);
  const most = known.reduce((dearest, cost) => larger(dearest, cost), 0n);
  return known.length < costs.length || known.length === 0
    ? say('refundCostUnknown')
    : say('refundCost', { cost: costText(say, most).words });
}

/** An error that belongs to no field. */
function problem({ say, form }: RefundModel): VNode | false {
  const wrong = Object.keys(form.errors);
  const elsewhere = wrong.some((name) => !['to', 'memo', 'signature'].includes(name));
  return elsewhere && html`<div class="told" role="alert">${notice('bad', html`<p>${say('refundLater')}</p>`)}</div>`;
}

function asking(model: RefundModel): VNode {
  const { say, facts, path, form } = model;
  const senders = [...new Map(ownersIn(facts).map((own) => [own.sender, own])).values()];
  const chain = chainsOf(ownersIn(facts));
  const errors = {
    ...(form.errors['to'] !== undefined && { to: say.text('refundWrongTo', { chain }) }),
    ...(form.errors['memo'] !== undefined && { memo: say.text('refundWrongMemo') }),
  };
  // A payer who cannot sign with the paying account cannot prove another address either, so the paying account is a safe default.
  const own = senders.length === 1 ? senders[0]?.sender : undefined;
  const shown = { values: { ...(own !== undefined && { to: own }), ...form.values }, errors };
  const from = { form: shown, name: 'from', label: say.text('refundFrom') };
  const options = senders.map(({ sender }) => ({ value: sender, label: sender }));
  const hasMemo = ownersIn(facts).some(({ chainId }) => chainOf(chainId).family === 'stellar');
  return html`<form class="choose" method="get" action=${`${path}/refund`}>
    <input type="hidden" name="lang" value=${say.language} />
    ${senders.length === 1 ? html`<input type="hidden" name="from" value=${senders[0]?.sender} />` : selectField({ ...from, options })}
    ${textField({ form: shown, name: 'to', label: say.text('refundTo', { chain }), ...(own !== undefined && { hint: say('refundOwn') }), maxlength: 128, mono: true })}
    ${hasMemo && textField({ form: shown, name: 'memo', label: say.text('refundMemo'), hint: say.text('refundMemoHint'), maxlength: 128, optional: 'unsaid' })}
    ${submit(say('refundShow'))}
  </form>`;
}

/** Chains of the money; the signed text names one of them. */
const chainsOf = (owners: readonly OwnMoney[]): string =>
  [...new Set(owners.map(({ chainId }) => chainName(chainId)))].join(', ');

function signing(model: RefundModel, toSign: NonNullable<RefundModel['toSign']>): VNode {
  const { say, path, form } = model;
  const wrong = form.errors['signature'] !== undefined;
  const shown = { values: {}, errors: wrong ? { signature: say.text('refundWrongSignature') } : {} };
  return html`<div>
    <dl class="lines">
      ${line(say, 'to', address(toSign.address))}
      ${toSign.memo !== null && line(say, 'refundMemo', html`<span class="mono" dir="ltr">${toSign.memo}</span>`)}
      ${line(say, 'refundWords', html`<pre class="mono small" dir="ltr">${toSign.text}</pre>`, toSign.text)}
    </dl>
    ${signers(model, say('refundSignNow'), { family: chainOf(toSign.chainId).family, account: toSign.sender, text: toSign.text })}
    <form class="choose paste" method="post" action=${`${path}/refund`}>
      <p>${say('refundSign', { address: address(toSign.sender) })}</p>
      <input type="hidden" name="lang" value=${say.language} />
      <input type="hidden" name="from" value=${toSign.sender} />
      <input type="hidden" name="to" value=${toSign.address} />
      ${toSign.memo !== null && html`<input type="hidden" name="memo" value=${toSign.memo} />`}
      <input type="hidden" name="number" value=${toSign.number} />
      ${textField({ form: shown, name: 'signature', label: say.text('refundSignature'), maxlength: 8_400, mono: true, focus: true })}
      ${submit(say('refundSave'))}
    </form>
  </div>`;
}

/** The page on which a payer sets and signs a refund address for held money. */
const path = '/pay/{secret}/refund';
const params = Type.Object({ secret: Type.String({ maxLength: 200 }) });
const lang = Type.Optional(entry(16));
const Asked = fields({
  from: Type.Optional(entry(128)),
  to: Type.Optional(entry(128)),
  memo: Type.Optional(entry(128)),
  lang,
});
const Signed = fields({
  from: entry(128),
  to: entry(128),
  memo: Type.Optional(entry(128)),
  number: Type.String({ pattern: '^[1-9][0-9]{0,3}$', description: 'the number of the text' }),
  signature: entry(8_400),
  lang,
});

type Visitor = Visit<'anyone', { readonly secret: string }>;
type Words = RefundModel['toSign'] | Refusal;

/** Needs of the form for a refund's address. */
export interface RefundFormDeps extends PayModelDeps {
  readonly refundAddresses: RefundAddresses;
}

export function refundForm(deps: RefundFormDeps): readonly (AnyPage | AnyForm)[] {
  const { refundAddresses, paymentSecrets } = deps;
  const paymentOf = (secret: string): string => {
    const paymentId = paymentSecrets.paymentIdOf(secret);
    if (paymentId === null) throw noSuchPage();
    return paymentId;
  };
  /** The text to sign for a valid address; otherwise the error beside its field. */
  const shown = async (visit: Visitor, state: FormState): Promise<PageResult> => {
    const { from, to, memo, lang: language } = state.values;
    const model = await payModelOf(deps, visit, { lang: language });
    const words: Words =
      from === undefined || to === undefined
        ? null
        : await refundAddresses.words(paymentOf(visit.params.secret), { from, to, memo: memo ?? null });
    const refused = isRefusal(words) ? refusedForm(state.values, errorOfRefusal(words), ['to', 'memo']) : state;
    const toSign = isRefusal(words) ? null : words;
    return { page: refundPage({ ...model, form: refused, toSign }), headers: framing(model.sites, true) };
  };
  return [
    page({
      path,
      audience: 'anyone',
      params,
      query: Asked,
      show: (visit) => shown(visit, { ...emptyForm, values: given(visit.query) }),
    }),
    form({
      path,
      audience: 'anyone',
      params,
      fields: Signed,
      async act({
        params: { secret },
        fields: { from, to, memo, number, signature, lang: language },
        by: { requestId },
      }) {
        const by = { cause: 'payer', ...(requestId !== undefined && { requestId }) } as const;
        const asked = { from, to, memo: memo ?? null };
        const set = await refundAddresses.prove(paymentOf(secret), asked, { number: Number(number), signature }, by);
        return isRefusal(set) ? set : { to: withQuery(payPath(secret), { lang: language ?? null }) };
      },
      again: shown,
    }),
  ];
}

const given = (query: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined));
