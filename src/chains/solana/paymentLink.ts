import type { PaymentView } from '../../../domain/payment/view.ts';
import { solanaChainId } from './config.ts';
import { referenceOf } from './payouts/transaction.ts';

export type Asked = Pick<
  PaymentView,
  'paymentId' | 'sourceChainId' | 'sourceTokenAddress' | 'sourceAmount' | 'depositAddress' | 'title'
>;

/**
 * A Solana Pay transfer request (docs.solanapay.com/spec): what a wallet needs to pay, also as a QR code. Its reference is made one-way
 * from the payment's id, which the chain never shows. Null for payments that are paid elsewhere.
 */
export function solanaPaymentLink(payment: Asked): string | null {
  if (payment.sourceChainId !== solanaChainId) return null;
  const { depositAddress, sourceAmount, sourceTokenAddress, title, paymentId } = payment;
  const asked = {
    ...(sourceAmount !== null && { amount: sourceAmount }),
    'spl-token': sourceTokenAddress,
    reference: referenceOf('payin', paymentId),
    ...(title !== null && { label: title }),
  };
  const query = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `solana:${depositAddress}?${query.join('&')}`;
}
