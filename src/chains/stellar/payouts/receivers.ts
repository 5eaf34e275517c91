/** Who can take a token: an account needs a trustline for it. */
import { formatAmount } from '../../../../domain/money.ts';
import type { TokenRef } from '../../../../domain/payment/events.ts';
import { holdingOf } from '../accounts.ts';
import { accountOf } from '../addresses.ts';
import type { StellarNode } from '../rpc.ts';
import { assetOf } from '../tokens.ts';

/**
 * Why a receiver cannot take an amount now, and what it must do; undefined when it can. Contracts hold tokens without a trustline.
 * @param amount in smallest units; null asks for any room at all
 * @throws RpcFailed
 */
export async function obstacle(
  node: StellarNode,
  token: TokenRef,
  receiver: string,
  amount: bigint | null,
): Promise<string | undefined> {
  const account = accountOf(receiver);
  if (account === undefined) return undefined;
  const { symbol, decimals } = token;
  const asset = assetOf(token);
  const {
    account: found,
    trustlines: [trustline],
  } = await holdingOf(node, account, [asset]);
  if (!found)
    return `the account ${account} does not exist on Stellar: fund it with lumens and add a trustline for ${symbol}`;
  if (!trustline) return `the account ${account} has no trustline for ${symbol} of ${asset.getIssuer()}: add one first`;
  if (!trustline.authorized) return `the issuer of ${symbol} does not let ${account} hold it: use another account`;
  if (trustline.room >= (amount ?? 1n)) return undefined;
  const room = formatAmount(trustline.room, decimals);
  return `the trustline of ${account} has room for ${room} ${symbol} only: raise its limit`;
}
