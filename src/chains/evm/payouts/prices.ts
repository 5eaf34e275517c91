/** What is offered for a unit of gas: within the configured limits, and never on one node's word where others say less. */
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { higher, lower } from '../../../lib/bigints.ts';
import { PayoutBlocked } from '../../ports.ts';
import { suggestedTip } from '../accounts.ts';
import type { EvmFees } from '../config.ts';
import { type Header, knownHeader } from '../reads.ts';
import { ChainUnavailable, type EvmNode, type EvmRpc } from '../rpc.ts';
import type { GasPrice } from './transaction.ts';

/** Headroom for a base fee that rises by an eighth per block: six full blocks. */
const baseFeeFactor = 2n;

/**
 * @param tip_wei what the nodes suggest
 * @throws PayoutBlocked when the chain asks for more than the configured maximum
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

/** What gas costs, in wei, at twice the base fee of now; never more than the configured maximum, beyond which nothing is signed. */
export const usualCost = (gas: bigint, baseFee_wei: bigint, tip_wei: bigint, limits: EvmFees): bigint =>
  gas * boundedPrice(baseFee_wei, boundedTip(tip_wei, limits), limits);

/**
 * Nodes replace a pending transaction only if both caps rise by 10 % or more. An eighth, rounded up, is enough everywhere. Geth also
 * requires that a cap of 0 rises.
 */
const bumped = (old: bigint): bigint => higher(old + 1n, (old * 9n + 7n) / 8n);

/**
 * A price high enough to replace an attempt, and no lower than today's.
 * @throws PayoutBlocked when that is above the configured maximum
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

/** By the chain's own time. */
const tipsHold_s = 15;

/** @returns what a block costs now. All nodes are asked for a tip now and then, each for itself, and the middle one counts. */
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

/** Empty where no node suggests any. */
const tipsOf = (rpc: EvmRpc): Promise<readonly bigint[]> =>
  rpc.promptly(suggestedTip).catch((error) => {
    if (error instanceof ChainUnavailable) return [];
    throw error;
  });

/** Of two the lower one. */
const middle = (values: readonly bigint[]): bigint | undefined =>
  values.toSorted((a, b) => (a < b ? -1 : 1))[Math.floor((values.length - 1) / 2)];
