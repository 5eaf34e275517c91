import { chainOf, tokenAt } from '../../../domain/chains.ts';
import { parseAmount } from '../../../domain/money.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { networkId } from './config.ts';

export type WalletLinkRequest = Pick<PaymentView, 'sourceChainId' | 'sourceTokenAddress' | 'depositAddress'>;

/**
 * Link to call `transfer` of the token (ERC-681, eips.ethereum.org), for a wallet or a QR code. Null if the payer chooses the amount:
 * wallets read a missing amount as zero.
 *
 * @param amount in whole tokens
 */
export function evmWalletLink(
  { sourceChainId, sourceTokenAddress, depositAddress }: WalletLinkRequest,
  amount: string | null,
): string | null {
  const token = tokenAt(chainOf(sourceChainId), sourceTokenAddress);
  const units = token && amount !== null ? parseAmount(amount, token.decimals) : undefined;
  if (typeof units !== 'bigint') return null;
  return `ethereum:${sourceTokenAddress}@${networkId(sourceChainId)}/transfer?address=${depositAddress}&uint256=${units}`;
}
