/** One payment: what to pay, its story, its transactions, its webhooks. */
import type { VNode } from 'preact';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import type { StoryEntry } from '../../queries/paymentStory.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface PaymentModel extends Frame {
  readonly payment: PaymentView;
  /** Oldest first. */
  readonly story: readonly StoryEntry[];
  readonly transactions: readonly PaymentTransaction[];
  readonly deliveries: readonly Delivery[];
  /** The hosted page to pay at; null without one. */
  readonly link: string | null;
  readonly now: Instant;
}

export const paymentPage = (model: PaymentModel): VNode =>
  html`<html lang="en"><head><title>payment</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
