/** A reusable link as its payer opens it: what it is for, what may be chosen, and one button. POST: nonce, amount, source, lang. */
import type { VNode } from 'preact';
import type { ListedLink } from '../../queries/links.ts';
import { submit } from '../parts/button.ts';
import { type Option, selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import { bdi, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import { notice } from '../parts/notice.ts';
import { chainName } from '../parts/words.ts';
import { help } from './help.ts';
import { payDocument } from './layout.ts';
import { type Around, type Shop, shopName } from './model.ts';
import { sum } from './sum.ts';

export interface PaySource {
  readonly chainId: number;
  readonly tokenSymbol: string;
}

export interface LinkModel extends Around {
  readonly shop: Shop;
  readonly link: Pick<ListedLink, 'type' | 'amount' | 'minAmount' | 'maxAmount' | 'title' | 'description' | 'closedAt'>;
  /** What the payment may be paid from: chosen on its page where there are several. Empty where the payer chooses here. */
  readonly from: readonly PaySource[];
  /** What he chooses from here. */
  readonly sources: readonly PaySource[];
  /** Of this form alone. */
  readonly nonce: string;
  /** Values as they were sent; what is wrong is said in the page's language, by the name of the field alone. */
  readonly form: FormState;
}

/** As the form sends it: `8453-USDC`. */
export const sourceValue = ({ chainId, tokenSymbol }: PaySource): string => `${chainId}-${tokenSymbol}`;

export function linkPage(model: LinkModel): VNode {
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

const over = (model: LinkModel): VNode =>
  html`<section class="ask">
    <span class="sign idle">${icon('over')}</span>
    <div><h1>${model.say('linkClosedTitle')}</h1><p class="on">${model.say('linkClosedText', { merchant: shopName(model) })}</p></div>
  </section>`;

function asked({ say, link, from }: LinkModel, title: string): VNode {
  const { amount, description } = link;
  const source = from.length === 1 ? from[0] : undefined;
  const chain = source && html`<strong>${chainName(source.chainId)}</strong>`;
  return html`<section class="ask"><div>
    <h1>${bdi(title)}</h1>
    ${description !== null && html`<p class="on">${bdi(description)}</p>`}</div>
    ${amount !== null && html`<div><p class="amount">${sum(amount, source?.tokenSymbol ?? 'USD')}</p>${chain && html`<p class="on">${say('on', { chain })}</p>`}</div>`}
  </section>`;
}

function linkForm(model: LinkModel): VNode {
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

function amountField({ say, link, form }: LinkModel): VNode {
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

function whatFrom(model: LinkModel): VNode | false {
  const { say, link, from } = model;
  const [only, ...others] = from;
  if (!only) return sourceField(model);
  const texts = from.map((source) => bdi(sourceText(model, source)));
  if (others.length > 0)
    return html`<div class="muted"><p>${say('linkFromNext')}</p><ul>${texts.map((text) => html`<li>${text}</li>`)}</ul></div>`;
  return link.amount === null && html`<p class="muted">${say('linkFrom')}: ${texts}</p>`;
}

const sourceField = (model: LinkModel): VNode =>
  selectField({
    form: { ...model.form, errors: {} },
    name: 'source',
    label: model.say.text('linkFrom'),
    options: model.sources.map((source): Option => ({ value: sourceValue(source), label: sourceText(model, source) })),
  });

const sourceText = ({ say }: LinkModel, { tokenSymbol, chainId }: PaySource): string =>
  say.text('linkSource', { token: tokenSymbol, chain: chainName(chainId) });
