/** Price offered per unit of gas: within the configured limits, and never from one node alone if others report less. */

import type { Hex } from 'viem';
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { gasNeeded, suggestedTip } from '../accounts.ts';
import type { EvmFees } from '../config.ts';
import { type Header, knownHeader } from '../reads.ts';
import { ChainUnavailable, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { type Call, type GasPrice, transferCall } from './transaction.ts';

/** Headroom for a base fee that rises by an eighth per block: six full blocks. */
const baseFeeFactor = 2n;

/**
 * @param tip_wei the nodes' suggestion
 * @throws PayoutBlocked if the chain charges more than the configured maximum
 */
export function priceFor(baseFee_wei: bigint, tip_wei: bigint, limits: EvmFees): GasPrice {
  const tip = boundedTip(tip_wei, limits);
  checkPrice(baseFee_wei + tip, limits);
  return { maxFeePerGas: boundedPrice(baseFee_wei, tip, limits), maxPriorityFeePerGas: tip };
}

const boundedTip = (tip_wei: bigint, { minTip_wei, maxTip_wei }: EvmFees): bigint =>
  higher(lower(tip_wei, maxTip_wei), minTip_wei);

const boundedPrice = (baseFee_wei: bigint, tip: bigint, limits: EvmFees): bigint =>
  lower(baseFee_wei * baseFeeFactor + tip, limits.maxFeePerGas_wei);

/** Cost of gas in wei at twice the current base fee, up to the configured maximum, above which nothing is signed. */
export const usualCost = (gas: bigint, baseFee_wei: bigint, tip_wei: bigint, limits: EvmFees): bigint =>
  gas * boundedPrice(baseFee_wei, boundedTip(tip_wei, limits), limits);

/**
 * Nodes replace a pending transaction only if both caps rise by at least 10 %. An eighth, rounded up, is enough everywhere. Geth also
 * requires that a cap of 0 rises.
 */
const bumped = (old: bigint): bigint => higher(old + 1n, (old * 9n + 7n) / 8n);

/**
 * A price high enough to replace an attempt, and at least the current one.
 * @throws PayoutBlocked if that is above the configured maximum
 */
export function priceToReplace(replaced: Pick<SignedAttempt, 'fee'>, fresh: GasPrice, limits: EvmFees): GasPrice {
  const raise = (name: keyof GasPrice) => higher(bumped(BigInt(replaced.fee[name] ?? '0')), fresh[name]);
  const price = { maxFeePerGas: raise('maxFeePerGas'), maxPriorityFeePerGas: raise('maxPriorityFeePerGas') };
  checkPrice(price.maxFeePerGas, limits);
  return price;
}

function checkPrice(perGas_wei: bigint, { maxFeePerGas_wei }: EvmFees): void {
  if (perGas_wei <= maxFeePerGas_wei) return;
  throw new PayoutBlocked(
    'gas',
    `the chain asks for ${perGas_wei} wei per gas, the limit is ${maxFeePerGas_wei}: wait, or raise the limit`,
  );
}

export interface Prices {
  readonly latest: Header;
  readonly tip_wei: bigint;
}

/** Life of a tip in chain time. */
const tipsHold_s = 15;

/** @returns the current gas price. All nodes are periodically queried for a tip, and the median counts. */
export function createPrices(rpc: EvmRpc): (node: EvmNode) => Promise<Prices> {
  let known: { readonly tip_wei: bigint; readonly at_s: number } | undefined;

  return async (node) => {
    const latest = await knownHeader(node, 'latest');
    if (!known || Math.abs(latest.time_s - known.at_s) > tipsHold_s) {
      const tips = await tipsOf(rpc);
      known = { tip_wei: middle(tips) ?? (await suggestedTip(node)), at_s: latest.time_s };
    }
    return { latest, tip_wei: known.tip_wei };
  };
}

/** Empty if no node suggests any. */
const tipsOf = (rpc: EvmRpc): Promise<readonly bigint[]> =>
  rpc.allSoon(suggestedTip).catch((error) => {
    if (error instanceof ChainUnavailable) return [];
    throw error;
  });

/** Median; of two the lower one. */
const middle = (values: readonly bigint[]): bigint | undefined =>
  values.toSorted((a, b) => (a < b ? -1 : 1))[Math.floor((values.length - 1) / 2)];

/** Margin over the estimate: a call's cost depends on the contract's state; unused gas costs nothing. */
const margin_percent = 20n;
/** Margin for a call of several transfers: it may pay many accounts that are empty by then. */
const callMargin_percent = 50n;

const over = (gas: bigint, percent: bigint): bigint => (gas * (100n + percent)) / 100n;

/** Estimate with its margin. */
export const withMargin = (gas: bigint): bigint => over(gas, margin_percent);

/** @throws RpcFailed if it would revert */
export const gasForCall = async (node: EvmNode, from: string, call: Call): Promise<bigint> =>
  over(await gasNeeded(node, { from, ...call }), callMargin_percent);

/** Life of an estimate in chain time: forks and the tokens' own code change rarely. */
const estimateHolds_s = 600;

/** The chain's head, or the pending query of it. */
type Latest = Header | Promise<Header>;

export interface TransferGas {
  /** Gas limit of an order. @throws RpcFailed if it would revert */
  forOrder(node: EvmNode, order: TransferOrder, latest: Latest): Promise<bigint>;
  /** Gas of a token transfer to a new holder; undefined if the account has no tokens to simulate it. @throws RpcFailed */
  toNewHolder(node: EvmNode, token: TransferOrder['token'], latest: Latest): Promise<bigint | undefined>;
}

/**
 * Reads the gas limit of a transfer: a node's estimate by the rules of the current fork, with a margin. A receiver that empties its account
 * before the transfer lands makes the transfer dearer by a new storage slot, and a fork may change that slot's cost (EIP-2929, EIP-8037).
 * So a transfer to an address that never held the token is estimated as well.
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

/** An address that nobody can predict before the block and fund. */
const strangerOf = ({ hash }: Header): Hex => `0x${hash.slice(-40)}`;
