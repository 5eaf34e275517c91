/**
 * A payment made by form; leads to its page. POST: amount (what is paid out), sourceChainId, sourceTokenSymbol, orderId, title,
 * description; of a wallet app also destinationChainId, destinationTokenSymbol, receiverAddress, receiverMemo.
 */
import type { VNode } from 'preact';
import type { Chain } from '../../domain/chains.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
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

export const newLinkPage = (model: NewLinkModel): VNode =>
  html`<html lang="en"><head><title>newLink</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
