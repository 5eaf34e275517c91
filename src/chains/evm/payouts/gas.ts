/** How much gas a transaction may use: as nodes estimate it by the rules of today's fork, with a margin. */
import type { Hex } from 'viem';
import { higher } from '../../../lib/bigints.ts';
import type { TransferOrder } from '../../ports.ts';
import { gasNeeded } from '../accounts.ts';
import type { Header } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { type Call, transferCall } from './transaction.ts';

/** Over the estimate: what a call costs varies with the contract's state; unused gas costs nothing. */
const margin_percent = 20n;
/** Many accounts that are empty by then may be among what a call of several transfers pays. */
const callMargin_percent = 50n;

const over = (gas: bigint, percent: bigint): bigint => (gas * (100n + percent)) / 100n;

/** What an estimate is allowed to be short of. */
export const withMargin = (gas: bigint): bigint => over(gas, margin_percent);

/** @throws RpcFailed when it would revert */
export const gasForCall = async (node: EvmNode, from: string, call: Call): Promise<bigint> =>
  over(await gasNeeded(node, { from, ...call }), callMargin_percent);

/** By the chain's own time: forks and the tokens' own code change seldom. */
const estimateHolds_s = 600;

/** The chain's head, also while it is asked for. */
type Latest = Header | Promise<Header>;

export interface TransferGas {
  /** To allow for an order. @throws RpcFailed when it would revert */
  forOrder(node: EvmNode, order: TransferOrder, latest: Latest): Promise<bigint>;
  /** What a transfer of a token to a new holder uses; undefined where the account has none to try it with. @throws RpcFailed */
  toNewHolder(node: EvmNode, token: TransferOrder['token'], latest: Latest): Promise<bigint | undefined>;
}

/**
 * A receiver that empties its account before the transfer lands makes it dearer by a new storage slot. What one costs each fork may
 * change (EIP-2929, EIP-8037): a transfer to an address that never held the token is estimated besides.
 */
export function createTransferGas(account: string): TransferGas {
  const known = new Map<string, { readonly gas: bigint; readonly at_s: number }>();

  async function toNewHolder(node: EvmNode, token: TransferOrder['token'], latest: Latest) {
    const last = known.get(token.address);
    const head = await latest;
    if (last && Math.abs(head.time_s - last.at_s) < estimateHolds_s) return last.gas;
    const call = transferCall({ token, receiver: strangerOf(head), amount: 1n });
    const gas = await gasNeeded(node, { from: account, ...call }).catch((error) => {
      if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
      throw error;
    });
    if (gas !== undefined) known.set(token.address, { gas, at_s: head.time_s });
    return gas;
  }

  return {
    toNewHolder,
    async forOrder(node, order, latest) {
      const [own, dearest] = await Promise.all([
        gasNeeded(node, { from: account, ...transferCall(order) }),
        toNewHolder(node, order.token, latest),
      ]);
      return withMargin(higher(own, dearest ?? 0n));
    },
  };
}

/** Nobody can know it before the block, and give it something to hold. */
const strangerOf = ({ hash }: Header): Hex => `0x${hash.slice(-40)}`;
