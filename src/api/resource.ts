/** The payment as the API shows it (service reference 2.1 to 2.4), in its forms. */

import type { Profile } from '../../domain/merchant/profile.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { type PaymentView, viewOf, webhookData } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { PaymentSecrets } from '../security/paymentSecrets.ts';
import type { PaymentResponse } from './schemas/responses.ts';

// Links to pay, and the branding of those who are paid, as answers show them.

/** Needs of links to pay, and of the branding of the app that is paid. */
export interface PayLinkDeps {
  /** Secrets of links to pay. */
  readonly paymentSecrets: PaymentSecrets;
  /** URL of the service for callers, without a slash at the end. Known once the service listens. */
  readonly publicUrl: () => string;
  /** The public profile of an app. */
  readonly findProfile: (appId: string) => Promise<Profile>;
}

/** Where a payment is paid and watched by whoever has its link. */
export const payPath = (secret: string): string => `/pay/${secret}`;

export const payLinkOf = (
  { paymentSecrets, publicUrl }: Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'>,
  paymentId: string,
): string => `${publicUrl()}${payPath(paymentSecrets.secretOf(paymentId))}`;

/** A reusable link as it is sent to payers. */
export const linkPath = (linkId: string): string => `/link/${linkId}`;

export const linkUrlOf = ({ publicUrl }: Pick<PayLinkDeps, 'publicUrl'>, linkId: string): string =>
  `${publicUrl()}${linkPath(linkId)}`;

/** Where a picture is that an app has shown. */
export const logoPath = (digest: string): string => `/logos/${digest}`;

/** What a payment's answer says of its page. */
export interface PageFields {
  readonly paymentLink: string;
  readonly merchant: Branding | null;
}

export interface Branding {
  readonly name: string | null;
  readonly logoUrl: string | null;
  readonly colour: string | null;
  readonly supportContact: string | null;
}

/** Null for an app that shows nothing of itself. */
export function brandingOf({ name, logo, colour, supportContact }: Profile, publicUrl: string): Branding | null {
  if (name === null && logo === null && colour === null && supportContact === null) return null;
  return { name, logoUrl: logo === null ? null : `${publicUrl}${logoPath(logo)}`, colour, supportContact };
}

/** A payment that is made is answered, with or without the branding that cannot be read just now. */
export function createPageFields(deps: PayLinkDeps) {
  return async ({ paymentId, appId }: { readonly paymentId: string; readonly appId: string }): Promise<PageFields> => {
    const shown = await deps.findProfile(appId).catch(() => null);
    return { paymentLink: payLinkOf(deps, paymentId), merchant: shown && brandingOf(shown, deps.publicUrl()) };
  };
}

/** What every answer has. */
function shownData(view: PaymentView): Omit<PaymentResponse, keyof typeof ofTheApp | keyof PageFields> {
  const data = webhookData(view);
  const lineItems = view.lineItems?.map((item) => ({ ...item }));
  return lineItems ? { ...data, display: { ...data.display, lineItems } } : data;
}

/** For the holder of the app's key. */
export function paymentResource(view: PaymentView, page: PageFields): PaymentResponse {
  return {
    ...shownData(view),
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
  ...shownData(view),
  ...ofTheApp,
  orderId: null,
  paymentLink: null,
  merchant: null,
});

/** For whoever created it without a key: the order id is the caller's own, and so is the page to pay at. */
export const creatorResource = (view: PaymentView, page: PageFields): PaymentResponse => ({
  ...shownData(view),
  ...ofTheApp,
  ...page,
});

const ofTheApp = { metadata: null, webhookUrl: null, webhookSecretSource: null } as const;
