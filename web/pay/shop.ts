/** Whom a payment or a link is paid to, as its app's profile says. */
import { returnUrlOf } from '../../domain/merchant/profile.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { HttpDeps } from '../../src/api/deps.ts';
import { logoPath } from '../../src/api/payLinks.ts';
import type { Shop } from './model.ts';

/** @param payment that its payer comes back from; null where there is none yet */
export async function shopOf(
  { findProfile }: Pick<HttpDeps, 'findProfile'>,
  appId: string,
  payment: Pick<PaymentView, 'paymentId' | 'orderId' | 'status'> | null,
): Promise<Shop> {
  const { name, logo, colour, supportContact, returnUrlTemplate } = await findProfile(appId);
  const returnTo = payment && { ...payment, orderId: payment.orderId ?? '' };
  return {
    name,
    colour,
    supportContact,
    logoUrl: logo === null ? null : logoPath(logo),
    returnUrl: returnUrlTemplate && returnTo && returnUrlOf(returnUrlTemplate, returnTo),
  };
}
