import { Networks } from '@stellar/stellar-sdk';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { publicNetwork } from './config.ts';

export type WalletLinkRequest = Pick<PaymentView, 'sourceTokenAddress' | 'depositAddress' | 'depositMemo'>;

/**
 * The local chain signs like the public network, so its assets have the contract ids of production. Its links name a network that no wallet
 * knows: otherwise a real wallet would pay them with real money.
 */
export const sandboxNetwork = 'Payment Intents Sandbox';

/**
 * Payment request (SEP-7, `web+stellar:pay`), for a wallet or a QR code. Without `network_passphrase` it is for the public network. Null
 * for a deposit without a memo, which only a contract call pays.
 *
 * @param amount in whole tokens; null leaves it to the payer
 * @param served passphrase of the served network: a test network has its own
 */
export function stellarWalletLink(
  { sourceTokenAddress, depositAddress, depositMemo }: WalletLinkRequest,
  amount: string | null,
  sandbox: boolean,
  served: string = publicNetwork,
): string | null {
  const passphrase = served !== Networks.PUBLIC ? served : sandbox ? sandboxNetwork : undefined;
  if (depositMemo === null) return null;
  const [code = '', issuer = ''] = sourceTokenAddress.split(':');
  const asked = new URLSearchParams({
    destination: depositAddress,
    ...(amount !== null && { amount }),
    asset_code: code,
    asset_issuer: issuer,
    memo: depositMemo,
    memo_type: 'MEMO_TEXT',
    ...(passphrase !== undefined && { network_passphrase: passphrase }),
  });
  return `web+stellar:pay?${asked}`;
}
