/** Links to pay, and the branding of those who are paid, as answers show them. */
import type { Profile } from '../../domain/merchant/profile.ts';
import type { HttpDeps } from './deps.ts';

export type PayLinkDeps = Pick<HttpDeps, 'paymentSecrets' | 'publicUrl' | 'findProfile'>;

/** Where a payment is paid and watched by whoever has its link. */
export const payPath = (secret: string): string => `/pay/${secret}`;

export const payLinkOf = (
  { paymentSecrets, publicUrl }: Pick<HttpDeps, 'paymentSecrets' | 'publicUrl'>,
  paymentId: string,
): string => `${publicUrl()}${payPath(paymentSecrets.secretOf(paymentId))}`;

/** A reusable link as it is sent to payers. */
export const linkPath = (linkId: string): string => `/link/${linkId}`;

export const linkUrlOf = ({ publicUrl }: Pick<HttpDeps, 'publicUrl'>, linkId: string): string =>
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
