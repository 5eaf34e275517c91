/** A reusable link for its payer: purpose, choices, and one button. POST: nonce, amount, source, lang. */

import type { VNode } from 'preact';
import Type from 'typebox';
import { createPayLink, linkSources } from '../../commands/links.ts';
import type { Ids } from '../../commands/ports.ts';
import type { Chain } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Link } from '../../domain/link.ts';
import type { App } from '../../queries/apps.ts';
import { type ListedLink, listedOf } from '../../queries/links.ts';
import type { AccessDeps } from '../../src/api/auth.ts';
import { unavailable } from '../../src/api/errors.ts';
import { admitApp, type Rates } from '../../src/api/rateLimits.ts';
import { linkPath, type PayLinkDeps, payPath } from '../../src/api/resource.ts';
import type { PaymentCreation } from '../../src/api/routes/createPayment.ts';
import type { LinkRoutePorts } from '../../src/api/routes/links.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { entry, fields } from '../dashboard/forms.ts';
import { type AnyForm, type AnyPage, form, type PageResult, page, type Visit } from '../dashboard/page.ts';
import { noSuchPage } from '../dashboard/router.ts';
import { notice } from '../parts/boxes.ts';
import { chainName } from '../parts/cells.ts';
import { emptyForm, type FormState, type Option, selectField, submit, textField } from '../parts/field.ts';
import type { Site } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { languageOf } from '../parts/language.ts';
import { withQuery } from '../parts/paths.ts';
import { payDocument } from './layout.ts';
import { sayIn } from './messages/index.ts';
import { type Around, type Shop, shopName } from './model.ts';
import { help, sum } from './parts.ts';
import { shopOf } from './payModel.ts';

export interface PaySource {
  readonly chainId: number;
  readonly tokenSymbol: string;
}

export interface PayLinkModel extends Around {
  readonly shop: Shop;
  readonly link: Pick<ListedLink, 'type' | 'amount' | 'minAmount' | 'maxAmount' | 'title' | 'description' | 'closedAt'>;
  /** Sources of the payment: with several, the payer chooses on its page. Empty if the payer chooses here. */
  readonly from: readonly PaySource[];
  /** Sources to choose from here. */
  readonly sources: readonly PaySource[];
  /** Specific to this form. */
  readonly nonce: string;
  /** Values as sent; errors are in the page's language, by field name only. */
  readonly form: FormState;
}

/** Form value: `8453-USDC`. */
export const sourceValue = ({ chainId, tokenSymbol }: PaySource): string => `${chainId}-${tokenSymbol}`;

export function payLinkPage(model: PayLinkModel): VNode {
  const { say, shop, link } = model;
  const closed = link.closedAt !== null;
  const title = closed
    ? say.text('linkClosedTitle')
    : (link.title ?? say.text('payAnyTitle', { merchant: shopName(model) }));
  return payDocument(
    model,
    { title: shop.name === null ? title : `${title} · ${shop.name}`, shop, order: null, live: null, sites: [] },
    html`<div class="card">
      ${closed ? over(model) : asked(model, title)}
      ${!closed && linkForm(model)}
      ${help(model)}
    </div>`,
  );
}

const over = (model: PayLinkModel): VNode =>
  html`<section class="ask">
    <span class="sign idle">${icon('over')}</span>
    <div><h1>${model.say('linkClosedTitle')}</h1><p class="on">${model.say('linkClosedText', { merchant: shopName(model) })}</p></div>
  </section>`;

function asked({ say, link, from }: PayLinkModel, title: string): VNode {
  const { amount, description } = link;
  const source = from.length === 1 ? from[0] : undefined;
  const chain = source && html`<strong>${chainName(source.chainId)}</strong>`;
  return html`<section class="ask"><div>
    <h1>${bdi(title)}</h1>
    ${description !== null && html`<p class="on">${bdi(description)}</p>`}</div>
    ${amount !== null && html`<div><p class="amount">${sum(amount, source?.tokenSymbol ?? 'USD')}</p>${chain && html`<p class="on">${say('on', { chain })}</p>`}</div>`}
  </section>`;
}

function linkForm(model: PayLinkModel): VNode {
  const { say, link, form, path, nonce } = model;
  const merchant = shopName(model);
  const failed = Object.keys(form.errors).some((name) => name !== 'amount' || link.amount !== null);
  return html`<form class="choose" method="post" action=${path}>
    ${failed && html`<div role="alert">${notice('bad', html`<p>${say('linkNotNow', { merchant })}</p>`)}</div>`}
    <input type="hidden" name="nonce" value=${nonce} />
    <input type="hidden" name="lang" value=${say.language} />
    ${link.amount === null && amountField(model)}
    ${whatFrom(model)}
    ${submit(say('linkGo'))}
    <p class="small muted">${link.type === 'exactOut' && html`<span>${say('linkPlusFee')} </span>`}${say('linkOwn')}</p>
  </form>`;
}

function amountField({ say, link, form }: PayLinkModel): VNode {
  const limits = { min: link.minAmount ?? '', max: link.maxAmount ?? '' };
  const wrong = form.errors['amount'] !== undefined;
  return textField({
    form: { ...form, errors: wrong ? { amount: say.text('linkAmountWrong', limits) } : {} },
    name: 'amount',
    label: say.text('linkAmount'),
    hint: say.text('linkAmountHint', limits),
    inputmode: 'decimal',
    pattern: ' *[0-9]+([.,][0-9][0-9]?)? *',
    maxlength: 12,
    mono: true,
  });
}

function whatFrom(model: PayLinkModel): VNode | false {
  const { say, link, from } = model;
  const [only, ...others] = from;
  if (!only) return sourceField(model);
  const texts = from.map((source) => bdi(sourceText(model, source)));
  if (others.length > 0)
    return html`<div class="muted"><p>${say('linkFromNext')}</p><ul>${texts.map((text) => html`<li>${text}</li>`)}</ul></div>`;
  return link.amount === null && html`<p class="muted">${say('linkFrom')}: ${texts}</p>`;
}

const sourceField = (model: PayLinkModel): VNode =>
  selectField({
    form: { ...model.form, errors: {} },
    name: 'source',
    label: model.say.text('linkFrom'),
    options: model.sources.map((source): Option => ({ value: sourceValue(source), label: sourceText(model, source) })),
  });

const sourceText = ({ say }: PayLinkModel, { tokenSymbol, chainId }: PaySource): string =>
  say.text('linkSource', { token: tokenSymbol, chain: chainName(chainId) });

/** A reusable link: a page without effects, and a form that creates a payment for the payer and leads to it. */
const path = '/link/{linkId}';
const params = Type.Object({ linkId: Type.String({ maxLength: 100 }) });
const Asked = fields({ lang: Type.Optional(entry(16)) });

/** At most cents, after a point or a comma: `1.000` and `1,000` are ambiguous. */
const Amount = Type.String({ pattern: '^[0-9]{1,6}([.,][0-9]{1,2})?$', description: 'an amount like 10.00' });
const Filled = fields({
  nonce: Uuid,
  lang: Type.Optional(entry(16)),
  amount: Type.Optional(Amount),
  source: Type.Optional(Type.String({ pattern: '^[0-9]{1,6}-[A-Z]{1,10}$', description: 'one of the list' })),
});

type Visitor = Visit<'anyone', { readonly linkId: string }>;

/** Needs of the pages of reusable links. */
export interface PayLinkPagesDeps
  extends Pick<PaymentCreation, 'createPayment'>,
    Pick<AccessDeps, 'findApp'>,
    Pick<PayLinkDeps, 'findProfile' | 'paymentSecrets'> {
  readonly links: LinkRoutePorts;
  readonly rates: Rates;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly site: Site;
}

export function payLinkPages(deps: PayLinkPagesDeps): readonly (AnyPage | AnyForm)[] {
  const { ids, site } = deps;
  const offers = ({ id }: Chain): boolean => site.chains.some((chain) => chain.id === id);
  // Payers cannot fill the log, and never use up the limit of the app's own payments.
  const payFrom = (address: string) =>
    createPayLink(async (request, app, caller) => {
      await admitApp(deps.rates, 'linkOpen', app.appId, address);
      return deps.createPayment(request, app, caller);
    }, offers);
  const shown = async (visit: Visitor, state: FormState, lang: string | undefined): Promise<PageResult> => {
    const link = await existing(deps, visit.params.linkId);
    const app = await knownApp(deps, link.appId);
    const model = {
      say: sayIn(languageOf(lang, visit.languages)),
      mode: site.mode,
      path: linkPath(link.linkId),
      shop: await shopOf(deps, link.appId, null),
      link: listedOf(link),
      from: linkSources(link, app, offers),
      sources: site.chains.flatMap(({ id, tokens }) =>
        tokens.map(({ symbol }) => ({ chainId: id, tokenSymbol: symbol })),
      ),
      nonce: ids.eventId(),
      form: state,
    };
    return { page: payLinkPage(model), ...(link.closedAt !== null && { status: 410 }) };
  };
  return [
    page({
      path,
      audience: 'anyone',
      params,
      query: Asked,
      show: (visit) => shown(visit, emptyForm, visit.query.lang),
    }),
    form({
      path,
      audience: 'anyone',
      params,
      fields: Filled,
      creates: true,
      pointers: { '/source/amount': 'amount', '/destination/amount': 'amount' },
      async act({ params: { linkId }, fields: { nonce, amount, source, lang = null }, by, address }) {
        const link = await existing(deps, linkId);
        // The page states that the link is closed.
        if (link.closedAt !== null) return { to: withQuery(linkPath(linkId), { lang }) };
        const app = await knownApp(deps, link.appId);
        const [chainId = '', tokenSymbol = ''] = source?.split('-') ?? [];
        const visit = {
          nonce,
          amount: amount?.replace(',', '.'),
          source: source === undefined ? undefined : { chainId, tokenSymbol },
        };
        const created = await payFrom(address)(app, link, visit, by);
        if (isRefusal(created)) return created;
        const secret = deps.paymentSecrets.secretOf(created.payment.terms.paymentId);
        return { to: withQuery(payPath(secret), { lang }) };
      },
      again: (visit, state) => shown(visit, state, state.values['lang']),
    }),
  ];
}

/** A wrong link and a truncated one get the same answer. */
async function existing({ links }: Pick<PayLinkPagesDeps, 'links'>, linkId: string): Promise<Link> {
  const link = await links.find(linkId);
  if (!link) throw noSuchPage();
  return link;
}

async function knownApp({ findApp }: Pick<PayLinkPagesDeps, 'findApp'>, appId: string): Promise<App> {
  const app = await findApp(appId);
  if (!app) throw unavailable('the settings of the app are not known here yet: try again', 5);
  return app;
}
