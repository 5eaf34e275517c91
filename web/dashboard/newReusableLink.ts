/** A reusable link made by form; leads to its page. POST: nonce, amount, minAmount, maxAmount, type, source, title, description. */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { card } from '../parts/boxes.ts';
import { submit } from '../parts/button.ts';
import { choiceField, type Option, problems, selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { paidOutTo, settlementFirst } from './settlementFirst.ts';
import type { SettlementWallet } from './settlementForm.ts';

export interface NewReusableLinkModel extends Frame {
  readonly form: FormState;
  /** Of this form alone: sent twice, it makes one link. */
  readonly nonce: string;
  /** Where payers can pay. */
  readonly chains: readonly Chain[];
  /** Where payments go. Without one there can be no link. */
  readonly settlement: SettlementWallet | null;
}

export const newReusableLinkPage = (model: NewReusableLinkModel): VNode =>
  appPage(
    model,
    {
      title: 'New reusable link',
      section: 'links',
      up: { href: appPaths(model.app.appId).links, label: 'Payment links' },
    },
    html`<div class="stack narrow">${
      model.settlement === null
        ? settlementFirst(model.app.appId)
        : card({ title: 'What is to be paid each time' }, linkForm(model, model.settlement))
    }</div>`,
  );

const amountPattern = ' *[0-9]+([.][0-9]+)? *';

function linkForm({ app, form, nonce, chains }: NewReusableLinkModel, settlement: SettlementWallet): VNode {
  const amount = { form, inputmode: 'decimal', maxlength: 20, pattern: amountPattern, optional: true } as const;
  return html`<form class="inside" method="post" action=${appPaths(app.appId).newReusableLink}>
    ${problems(form)}
    <input type="hidden" name="nonce" value=${nonce} />
    ${textField({ ...amount, name: 'amount', label: 'Amount in dollars', placeholder: '10.00', focus: true, hint: 'Leave it empty to let the payer choose, as for a tip or a donation.' })}
    <div class="columns">
      ${textField({ ...amount, name: 'minAmount', label: 'At least', placeholder: '0.02', hint: 'When the payer chooses.' })}
      ${textField({ ...amount, name: 'maxAmount', label: 'At most', placeholder: '10000.00' })}
    </div>
    ${choiceField({ form, name: 'type', label: 'What the amount is', options: typeOptions })}
    ${selectField({ form, name: 'source', label: 'Paid on', options: sourceOptions(chains) })}
    ${paidOutTo(settlement)}
    ${textField({ form, name: 'title', label: 'Title', optional: true, maxlength: 200, hint: 'The payer sees it.' })}
    ${textField({ form, name: 'description', label: 'Description', optional: true, maxlength: 1000 })}
    ${submit('Make the link')}
  </form>`;
}

export const typeOptions = [
  { value: 'exactOut', label: 'What you get', hint: 'The payer pays it and the fee.' },
  { value: 'exactIn', label: 'What the payer pays', hint: 'You get it less the fee.' },
] as const;

/** As `8453-USDC`. */
const sourceOptions = (chains: readonly Chain[]): readonly Option[] => [
  { value: '', label: 'The payer chooses' },
  ...chains.flatMap(({ id, name, tokens }) =>
    tokens.map(({ symbol }) => ({ value: `${id}-${symbol}`, label: `${symbol} on ${name}` })),
  ),
];
