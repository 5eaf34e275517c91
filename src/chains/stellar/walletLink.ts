import type { PaymentView } from '../../../domain/payment/view.ts';

export type Asked = Pick<PaymentView, 'sourceTokenAddress' | 'depositAddress' | 'depositMemo'>;

/**
 * A request to pay (SEP-7, `web+stellar:pay`): what a wallet needs, also as a QR code. Null for a deposit without a memo, which only a
 * contract's call pays.
 *
 * @param amount in whole tokens; null leaves it to the payer
 */
export function stellarWalletLink(
  { sourceTokenAddress, depositAddress, depositMemo }: Asked,
  amount: string | null,
): string | null {
  if (depositMemo === null) return null;
  const [code = '', issuer = ''] = sourceTokenAddress.split(':');
  const asked = new URLSearchParams({
    destination: depositAddress,
    ...(amount !== null && { amount }),
    asset_code: code,
    asset_issuer: issuer,
    memo: depositMemo,
    memo_type: 'MEMO_TEXT',
  });
  return `web+stellar:pay?${asked}`;
}
