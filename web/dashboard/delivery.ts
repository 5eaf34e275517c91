/** One webhook: the request as it was sent, the answer. POST to redeliver: acknowledged. */
import type { VNode } from 'preact';
import type { Delivery } from '../../queries/deliveries.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';

export interface DeliveryModel extends Frame {
  readonly delivery: Delivery;
  readonly url: string;
  /** For people: why there was no answer; null when there was one. */
  readonly error: string | null;
  readonly duration_ms: number | null;
  /** As it was sent; null when that is not known: it was never sent, or an older version sent it. */
  readonly request: {
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body: string;
    /** Whether the body shown is the body sent, by its digest. */
    readonly proved: boolean;
  } | null;
  /** What this one repeats; null for a first one. */
  readonly firstDeliveryId: string | null;
  /** Repeats of this one, oldest first. */
  readonly repeats: readonly Delivery[];
  readonly mayRedeliver: boolean;
}

export const deliveryPage = (model: DeliveryModel): VNode =>
  html`<html lang="en"><head><title>delivery</title></head><body><pre>${JSON.stringify(model, null, 2)}</pre></body></html>`;
