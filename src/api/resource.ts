/** The payment in the API's formats (service reference 2.1 to 2.4). */

import type { Profile } from '../../domain/merchant/profile.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { type PaymentView, viewOf, webhookData } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { PaymentSecrets } from '../security/masterKey.ts';
import type { PaymentResponse } from './schemas/responses.ts';

// Payment links and branding in answers.

/** Needs of links to pay, and of the branding of the app that is paid. */
export interface PayLinkDeps {
  /** Secrets of links to pay. */
  readonly paymentSecrets: PaymentSecrets;
  /** URL of the service for callers, without a slash at the end. Known once the service listens. */
  readonly publicUrl: () => string;
  /** The public profile of an app. */
  readonly findProfile: (appId: string) => Promise<Profile>;
}

/** Path of a payment's page for holders of its link. */
export const payPath = (secret: string): string => `/pay/${secret}`;

export const payLinkOf = (
  { paymentSecrets, publicUrl }: Pick<PayLinkDeps, 'paymentSecrets' | 'publicUrl'>,
  paymentId: string,
): string => `${publicUrl()}${payPath(paymentSecrets.secretOf(paymentId))}`;

/** Path of a reusable link for payers. */
export const linkPath = (linkId: string): string => `/link/${linkId}`;

export const linkUrlOf = ({ publicUrl }: Pick<PayLinkDeps, 'publicUrl'>, linkId: string): string =>
  `${publicUrl()}${linkPath(linkId)}`;

/** Path of an app's picture. */
export const logoPath = (digest: string): string => `/logos/${digest}`;

/** Payment-page fields of an answer. */
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

/** Null for an app without branding. */
export function brandingOf({ name, logo, colour, supportContact }: Profile, publicUrl: string): Branding | null {
  if (name === null && logo === null && colour === null && supportContact === null) return null;
  return { name, logoUrl: logo === null ? null : `${publicUrl}${logoPath(logo)}`, colour, supportContact };
}

/** A created payment is returned even if its branding cannot be read. */
export function createPageFields(deps: PayLinkDeps) {
  return async ({ paymentId, appId }: { readonly paymentId: string; readonly appId: string }): Promise<PageFields> => {
    const shown = await deps.findProfile(appId).catch(() => null);
    return { paymentLink: payLinkOf(deps, paymentId), merchant: shown && brandingOf(shown, deps.publicUrl()) };
  };
}

/** Fields of every answer. */
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
  /** For the caller who creates it without a key. */
  ofCreator(view: PaymentView): Promise<PaymentResponse>;
}

export function createResources(deps: PayLinkDeps): Resources {
  const pageFields = createPageFields(deps);
  return {
    full: async (view) => paymentResource(view, await pageFields(view)),
    ofCreator: async (view) => creatorResource(view, await pageFields(view)),
  };
}

/** The payment as a command returned it: the log is ahead of the read models. */
export const viewAfter = ({ payment, at }: { readonly payment: Payment; readonly at: Instant }): PaymentView =>
  viewOf(payment, at);

/** For holders of the id: what to pay, until when, and the progress. The app's own fields are null. */
export const publicResource = (view: PaymentView): PaymentResponse => ({
  ...shownData(view),
  ...ofTheApp,
  orderId: null,
  paymentLink: null,
  merchant: null,
});

/** For the caller who created it without a key: the order id is their own, and so is the payment page. */
export const creatorResource = (view: PaymentView, page: PageFields): PaymentResponse => ({
  ...shownData(view),
  ...ofTheApp,
  ...page,
});

const ofTheApp = { metadata: null, webhookUrl: null, webhookSecretSource: null } as const;
