/** Where webhooks go, their secret, what was sent. POST to webhookUrl: webhookUrl. */
import type { VNode } from 'preact';
import type { Instant } from '../../domain/time.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import type { FormState } from '../parts/form.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface WebhooksModel extends Frame {
  readonly webhookUrl: string | null;
  readonly fingerprint: string | null;
  readonly rotatedAt: Instant | null;
  /** Field: webhookUrl. */
  readonly form: FormState;
  /** Right after it was made, and never again. */
  readonly newSecret: string | null;
  /** Newest first. */
  readonly deliveries: readonly Delivery[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

export const webhooksPage = (model: WebhooksModel): VNode =>
  html`<html lang="en"><head><title>webhooks</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
