/**
 * A payer says where his money goes back to, in two steps that need no script: the address, then the signature of a text that names it.
 * GET: from, to, memo, lang. POST: the same, number, signature.
 */
import type { VNode } from 'preact';
import { type ChainId, chainOf } from '../../domain/chains.ts';
import type { OwnMoney } from '../../domain/payment/refundShares.ts';
import { address } from '../parts/address.ts';
import { submit } from '../parts/button.ts';
import { selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import { html } from '../parts/html.ts';
import { notice } from '../parts/notice.ts';
import { paths } from '../parts/paths.ts';
import { chainName } from '../parts/words.ts';
import { help } from './help.ts';
import { payDocument } from './layout.ts';
import { type PayModel, shopName } from './model.ts';
import { line } from './toPayLine.ts';

export interface RefundModel extends PayModel {
  /** Values as they were sent; what is wrong is said in the page's language, by the name of the field alone. */
  readonly form: FormState;
  /** What is to be signed, once an address was given; null before. */
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
  const order = facts.payment.orderId ?? facts.payment.title;
  return payDocument(
    { ...model, path: `${path}/refund` },
    { title: shop.name === null ? title : `${title} · ${shop.name}`, shop, order, live: null, sites: model.sites },
    html`<div class="card">
      <section class="ask"><div><h1>${title}</h1><p class="on">${say('refundText', { merchant: shopName(model) })}</p></div></section>
      ${problem(model)}
      ${model.toSign ? signing(model, model.toSign) : asking(model)}
      <section class="ways"><a class="button quiet" href=${`${path}?lang=${say.language}`}>${say('backToPayment')}</a></section>
      ${help(model)}
      <p class="visually-hidden" id="said" data-say=${title}></p>
    </div>`,
  );
}

/** What is wrong, where no field says it. */
function problem({ say, form }: RefundModel): VNode | false {
  const wrong = Object.keys(form.errors);
  const elsewhere = wrong.some((name) => !['to', 'memo', 'signature'].includes(name));
  return elsewhere && html`<div class="told" role="alert">${notice('bad', html`<p>${say('refundLater')}</p>`)}</div>`;
}

function asking(model: RefundModel): VNode {
  const { say, facts, path, form } = model;
  const senders = [...new Map(facts.owners.map((own) => [own.sender, own])).values()];
  const chain = chainsOf(facts.owners);
  const errors = {
    ...(form.errors['to'] !== undefined && { to: say.text('refundWrongTo', { chain }) }),
    ...(form.errors['memo'] !== undefined && { memo: say.text('refundWrongMemo') }),
  };
  const shown = { values: form.values, errors };
  const from = { form: shown, name: 'from', label: say.text('refundFrom') };
  const options = senders.map(({ sender }) => ({ value: sender, label: sender }));
  const hasMemo = facts.owners.some(({ chainId }) => chainOf(chainId).family === 'stellar');
  return html`<form class="choose" method="get" action=${`${path}/refund`}>
    <input type="hidden" name="lang" value=${say.language} />
    ${senders.length === 1 ? html`<input type="hidden" name="from" value=${senders[0]?.sender} />` : selectField({ ...from, options })}
    ${textField({ form: shown, name: 'to', label: say.text('refundTo', { chain }), maxlength: 128, mono: true })}
    ${hasMemo && textField({ form: shown, name: 'memo', label: say.text('refundMemo'), hint: say.text('refundMemoHint'), maxlength: 128, optional: 'unsaid' })}
    ${submit(say('refundShow'))}
  </form>`;
}

/** Where the money is; the text that is signed names one of them. */
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
    <form class="choose" method="post" action=${`${path}/refund`}>
      <p>${say('refundSign', { address: address(toSign.sender) })}</p>
      <input type="hidden" name="lang" value=${say.language} />
      <input type="hidden" name="from" value=${toSign.sender} />
      <input type="hidden" name="to" value=${toSign.address} />
      ${toSign.memo !== null && html`<input type="hidden" name="memo" value=${toSign.memo} />`}
      <input type="hidden" name="number" value=${toSign.number} />
      ${inWallet(model, toSign)}
      ${textField({ form: shown, name: 'signature', label: say.text('refundSignature'), maxlength: 8_400, mono: true, focus: true })}
      ${submit(say('refundSave'))}
    </form>
  </div>`;
}

/** Seen where a wallet of the browser can sign (client/signRefund.js). Wallets of the other families give no such signature to pages. */
function inWallet({ say }: RefundModel, { text, sender, chainId }: NonNullable<RefundModel['toSign']>): VNode | false {
  return (
    chainOf(chainId).family === 'evm' &&
    html`<div>
      <button class="button plain" type="button" hidden data-sign=${text} data-account=${sender} data-failed=${say.text('refundNotSigned')}>${say('refundSignNow')}</button>
      <p class="small" id="sign-told"></p>
      <script type="module" src=${paths.asset('signRefund.js')}></script>
    </div>`
  );
}
