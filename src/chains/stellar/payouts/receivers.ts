/** Who can take USDC: an account needs to have said so, by a trustline. */
import { Unavailable } from '../../../../commands/ports.ts';
import { refuse } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import type { CanReceive } from '../../ports.ts';
import { holdingOf } from '../accounts.ts';
import { accountOf } from '../addresses.ts';
import { assetOf, type StellarToken, stellarChain } from '../config.ts';
import { ChainUnavailable, type StellarNode, type StellarRpc } from '../rpc.ts';

/**
 * Why a receiver cannot take an amount now, and what it must do; undefined when it can. Contracts hold tokens without a trustline.
 * @param amount in smallest units; null asks for any room at all
 * @throws RpcFailed
 */
export async function obstacle(
  node: StellarNode,
  { token, asset }: Pick<StellarToken, 'token' | 'asset'>,
  receiver: string,
  amount: bigint | null,
): Promise<string | undefined> {
  const account = accountOf(receiver);
  if (account === undefined) return undefined;
  const { account: found, trustline } = await holdingOf(node, account, asset);
  const { symbol, decimals } = token;
  if (!found)
    return `the account ${account} does not exist on Stellar: fund it with lumens and add a trustline for ${symbol}`;
  if (!trustline) return `the account ${account} has no trustline for ${symbol} of ${asset.getIssuer()}: add one first`;
  if (!trustline.authorized) return `the issuer of ${symbol} does not let ${account} hold it: use another account`;
  if (trustline.room >= (amount ?? 1n)) return undefined;
  const room = formatAmount(trustline.room, decimals);
  return `the trustline of ${account} has room for ${room} ${symbol} only: raise its limit`;
}

const unaborted = new AbortController().signal;

/** Asked before a payment to Stellar is created. A node that cannot be asked is Unavailable: the answer is never guessed. */
export function createCanReceive(rpc: StellarRpc): CanReceive {
  return async (_chain, token, receiver, amount = null) => {
    const held = { token, asset: assetOf(token.address) };
    try {
      const found = await rpc.first(async (node) => ({ why: await obstacle(node, held, receiver, amount) }), unaborted);
      return found?.why === undefined ? undefined : refuse('invalidRequest', found.why);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const message = `${stellarChain().name} cannot be asked at present whether the receiver takes ${token.symbol}`;
      throw new Unavailable(message, error.retryAfter_s, { cause: error });
    }
  };
}
