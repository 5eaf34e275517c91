/**
 * A payment made by form; leads to its page. POST: nonce, type, amount, sourceChainId, sourceTokenSymbol, orderId, title, description; of a wallet app also destinationChainId, destinationTokenSymbol, receiverAddress, receiverMemo.
 */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { card } from '../parts/boxes.ts';
import { submit } from '../parts/button.ts';
import { choiceField, problems, selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { chainOptions, tokenOptions, walletFields } from '../parts/walletFields.ts';
import { typeOptions } from './newReusableLink.ts';
import { paidOutTo, settlementFirst } from './settlementFirst.ts';
import type { SettlementWallet } from './settlementForm.ts';

export interface NewLinkModel extends Frame {
  readonly form: FormState;
  /** Of this form alone: sent twice, it makes one payment. */
  readonly nonce: string;
  /** Where the payer can pay. */
  readonly chains: readonly Chain[];
  /** Where the payout goes. A merchant app without one can make no payment; a wallet app states the receiver in the form. */
  readonly settlement: SettlementWallet | null;
  /** A wallet app's: each payment names who receives it, and where. */
  readonly asksReceiver: boolean;
}

export const newLinkPage = (model: NewLinkModel): VNode => {
  const ready = model.settlement !== null || model.asksReceiver;
  return appPage(
    model,
    {
      title: 'New payment link',
      section: 'links',
      up: { href: appPaths(model.app.appId).links, label: 'Payment links' },
    },
    html`<div class="stack narrow">
      ${ready ? card({ title: 'What is to be paid' }, linkForm(model)) : settlementFirst(model.app.appId)}
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
      label: 'Amount',
      inputmode: 'decimal',
      maxlength: 30,
      pattern: ' *[0-9]+([.][0-9]+)? *',
      placeholder: '10.00',
      focus: true,
      optional: true,
      hint: 'Left empty only where the payer decides.',
    })}
    ${choiceField({ form, name: 'type', label: 'What the amount is', options: [...typeOptions, payerDecides] })}
    <div class="columns">
      ${selectField({ form, name: 'sourceChainId', label: 'Paid on', options: chainOptions(chains) })}
      ${selectField({ form, name: 'sourceTokenSymbol', label: 'Token', options: tokenOptions(chains) })}
    </div>
    ${asksReceiver ? receiverFields(form, chains) : settlement && paidOutTo(settlement)}
    ${textField({
      form,
      name: 'orderId',
      label: 'Order',
      optional: true,
      maxlength: 128,
      hint: 'Your own name for it. The same order again leads to the same payment, so nobody pays twice.',
    })}
    ${textField({ form, name: 'title', label: 'Title', optional: true, maxlength: 200, hint: 'The payer sees it.' })}
    ${textField({ form, name: 'description', label: 'Description', optional: true, maxlength: 1000 })}
    ${submit('Make the link')}
  </form>`;

const payerDecides = {
  value: 'anyAmount',
  label: 'The payer decides',
  hint: 'From 0.02 to 10,000. You get what comes, less the fee.',
};

const receiverFields = (form: FormState, chains: readonly Chain[]): VNode =>
  html`<fieldset class="field"><legend>Who receives it</legend>${walletFields(form, receiver, chains)}</fieldset>`;
