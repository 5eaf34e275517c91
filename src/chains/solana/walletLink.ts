import type { PaymentView } from '../../../domain/payment/view.ts';
import { solanaChainId } from './config.ts';
import { publicReferenceOf } from './payouts/transaction.ts';

export type WalletLinkRequest = Pick<
  PaymentView,
  'paymentId' | 'sourceChainId' | 'sourceTokenAddress' | 'depositAddress' | 'title'
>;

/** Maximum label in the link. More would make its QR code too fine for a telephone, and finally impossible. */
const labelMax_bytes = 120;

/**
 * A Solana Pay transfer request (docs.solanapay.com/spec), for a wallet or a QR code. Its reference is derived one-way from the payment's
 * id, which never appears on the chain. Null for payments on other chains.
 *
 * @param amount in whole tokens; null leaves it to the payer
 */
export function solanaWalletLink(payment: WalletLinkRequest, amount: string | null): string | null {
  if (payment.sourceChainId !== solanaChainId) return null;
  const { depositAddress, sourceTokenAddress, title, paymentId } = payment;
  const asked = {
    ...(amount !== null && { amount }),
    'spl-token': sourceTokenAddress,
    reference: publicReferenceOf('payin', paymentId),
    ...(title !== null && { label: shortened(title.toWellFormed()) }),
  };
  const query = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `solana:${depositAddress}?${query.join('&')}`;
}

/** Longest prefix of whole characters that fits into the link. */
function shortened(label: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of label) {
    bytes += encodeURIComponent(character).length;
    if (bytes > labelMax_bytes) return kept;
    kept += character;
  }
  return kept;
}
