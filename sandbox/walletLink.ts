/** Wallet link of a payment's page: the customer's side of the button and of the QR code. */
import { patientFetch } from './patientFetch.ts';

/** @param paymentLink of the payment's page; null for none @returns null if the page has no link of this scheme */
export async function walletLinkAt(paymentLink: string | null, scheme: string): Promise<string | null> {
  if (paymentLink === null) return null;
  const response = await patientFetch(paymentLink);
  const page = await response.text();
  const link = new RegExp(`href="(${scheme}:[^"]+)"`).exec(page)?.[1];
  return link?.replaceAll('&amp;', '&') ?? null;
}
