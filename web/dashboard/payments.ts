/** An app’s payments: filters, search, pages. GET: q, status, from, to (days), cursor. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface PaymentsModel extends Frame {
  /** Fields: q, status, from, to. */
  readonly filter: FormState;
  /** Newest first. */
  readonly payments: readonly PaymentView[];
  /** The cursor that this page began at; null on the first. */
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  /** Whether the app ever had a payment: an empty list teaches something else then. */
  readonly any: boolean;
  readonly now: Instant;
}

export const paymentsPage = (model: PaymentsModel): VNode =>
  html`<html lang="en"><head><title>payments</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
