/** Asks before something that cannot be taken back, or that stops something. POST to where the page is. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import type { SettlementWallet } from './settlement.ts';

/** What is about to be done. */
export type Danger =
  | {
      readonly kind: 'revokeKey';
      readonly keyId: string;
      readonly name: string;
      readonly hint: string;
      readonly lastUsedAt: Instant | null;
    }
  | { readonly kind: 'rotateSecret' }
  | { readonly kind: 'removeWebhook'; readonly webhookUrl: string }
  | { readonly kind: 'cancelSettlement'; readonly wallet: SettlementWallet; readonly effectiveAt: Instant };

export interface ConfirmModel extends Frame {
  readonly danger: Danger;
}

export const confirmPage = (model: ConfirmModel): VNode =>
  html`<html lang="en"><head><title>confirm</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
