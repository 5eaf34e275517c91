/** A payment made by form. POST: amount, sourceChainId, sourceTokenSymbol, orderId, title, description. */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import type { SettlementWallet } from './settlement.ts';

export interface NewLinkModel extends Frame {
  readonly form: FormState;
  /** Where the payer can pay. */
  readonly chains: readonly Chain[];
  /** Where the payout goes; without one no payment can be made. */
  readonly settlement: SettlementWallet | null;
  /** What was made of the form; the form is empty again. */
  readonly made: { readonly payment: PaymentView; readonly link: string | null } | null;
}

export const newLinkPage = (model: NewLinkModel): VNode =>
  html`<html lang="en"><head><title>newLink</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
