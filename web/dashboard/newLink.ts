/**
 * A payment made by form; leads to its page. POST: amount (what is paid out), sourceChainId, sourceTokenSymbol, orderId, title,
 * description; of a wallet app also destinationChainId, destinationTokenSymbol, receiverAddress, receiverMemo.
 */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import { shortAddress } from '../parts/address.ts';
import { linkButton, submit } from '../parts/button.ts';
import { card, empty } from '../parts/card.ts';
import { problems, selectField, textField } from '../parts/field.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { chainOptions, tokenOptions, walletFields } from '../parts/walletFields.ts';
import { chainName } from '../parts/words.ts';
import type { SettlementWallet } from './settlement.ts';

export interface NewLinkModel extends Frame {
  readonly form: FormState;
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
    { title: 'New payment link', section: 'newLink' },
    html`<div class="stack narrow">
      ${
        ready
          ? card({ title: 'What is to be paid' }, linkForm(model))
          : html`<section class="card">${empty(
              'First say where you are paid',
              'A payment is paid out to your wallet as soon as it has arrived. Without a wallet there would be nowhere to pay it out to.',
              linkButton(appPaths(model.app.appId).settlement, 'Set a wallet', 'primary'),
            )}</section>`
      }
    </div>`,
  );
};

const receiver = {
  chain: 'destinationChainId',
  token: 'destinationTokenSymbol',
  address: 'receiverAddress',
  memo: 'receiverMemo',
};

const linkForm = ({ app, form, chains, settlement, asksReceiver }: NewLinkModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).newLink}>
    ${problems(form)}
    ${textField({
      form,
      name: 'amount',
      label: 'Amount',
      inputmode: 'decimal',
      maxlength: 30,
      pattern: ' *[0-9]+([.][0-9]+)? *',
      placeholder: '10.00',
      focus: true,
      hint: 'What is paid out. The payer pays it and the fee.',
    })}
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

const receiverFields = (form: FormState, chains: readonly Chain[]): VNode =>
  html`<fieldset class="field"><legend>Who receives it</legend>${walletFields(form, receiver, chains)}</fieldset>`;

const paidOutTo = ({ tokenSymbol, chainId, receiverAddress }: SettlementWallet): VNode =>
  html`<p class="small muted">
    Paid out as ${tokenSymbol} on ${chainName(chainId)} to your wallet ${shortAddress(receiverAddress)}.
  </p>`;
