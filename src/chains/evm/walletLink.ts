import { chainOf, tokenAt } from '../../../domain/chains.ts';
import { parseAmount } from '../../../domain/money.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { networkId } from './config.ts';

export type Asked = Pick<PaymentView, 'sourceChainId' | 'sourceTokenAddress' | 'depositAddress'>;

/**
 * A request to call `transfer` of the token (ERC-681, eips.ethereum.org): what a wallet needs to pay, also as a QR code. Null where the
 * amount is the payer's choice: wallets take a missing one for nothing at all.
 *
 * @param amount in whole tokens
 */
export function evmWalletLink(
  { sourceChainId, sourceTokenAddress, depositAddress }: Asked,
  amount: string | null,
): string | null {
  const token = tokenAt(chainOf(sourceChainId), sourceTokenAddress);
  const units = token && amount !== null ? parseAmount(amount, token.decimals) : undefined;
  if (typeof units !== 'bigint') return null;
  return `ethereum:${sourceTokenAddress}@${networkId(sourceChainId)}/transfer?address=${depositAddress}&uint256=${units}`;
}
