/** The payment as the API shows it (service reference 2.1 to 2.4), in its forms. */

import { webhookData } from '../../domain/payment/payload.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { type PaymentView, viewOf } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import { createPageFields, type PageFields, type PayLinkDeps } from './payLinks.ts';
import type { PaymentResponse } from './schemas/responses.ts';

/** For the holder of the app's key. */
export function paymentResource(view: PaymentView, page: PageFields): PaymentResponse {
  return {
    ...webhookData(view),
    metadata: view.metadata,
    webhookUrl: view.webhookUrl,
    webhookSecretSource: view.webhookUrl === null ? null : 'app',
    ...page,
  };
}

export interface Resources {
  /** For the holder of the app's key. */
  full(view: PaymentView): Promise<PaymentResponse>;
  /** For whoever creates it without a key. */
  ofCreator(view: PaymentView): Promise<PaymentResponse>;
}

export function createResources(deps: PayLinkDeps): Resources {
  const pageFields = createPageFields(deps);
  return {
    full: async (view) => paymentResource(view, await pageFields(view)),
    ofCreator: async (view) => creatorResource(view, await pageFields(view)),
  };
}

/** The payment as a command left it or found it: the log is ahead of the read models. */
export const viewAfter = ({ payment, at }: { readonly payment: Payment; readonly at: Instant }): PaymentView =>
  viewOf(payment, at);

/** For whoever holds the id: what to pay, until when, and how far it is. What belongs to the app is null. */
export const publicResource = (view: PaymentView): PaymentResponse => ({
  ...webhookData(view),
  ...ofTheApp,
  orderId: null,
  paymentLink: null,
  merchant: null,
});

/** For whoever created it without a key: the order id is the caller's own, and so is the page to pay at. */
export const creatorResource = (view: PaymentView, page: PageFields): PaymentResponse => ({
  ...webhookData(view),
  ...ofTheApp,
  ...page,
});

const ofTheApp = { metadata: null, webhookUrl: null, webhookSecretSource: null } as const;
