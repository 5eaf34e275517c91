/** What is checked and priced before anything is signed, so that a transfer is refused here and not reverted on the chain. */
import { type Address, decodeFunctionResult, erc20Abi, type Hex } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { higher, lower } from '../../bigints.ts';
import { checkCoin, checkFloat } from '../../money/spending.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import type { EvmFees } from '../config.ts';
import { coinBalance, gasNeeded, simulate, tokenBalance } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { type GasPrice, transferCall } from './transaction.ts';

/** Gas over the estimate: what a call costs varies with the contract's state; unused gas costs nothing. */
const gasMargin_percent = 20n;
/** A receiver that empties its account before the transfer lands makes it dearer by a new storage slot (EIP-2929: 22,100). */
const newSlot_gas = 22_100n;

export interface Payer {
  readonly chain: Chain;
  readonly account: Address;
}

export const withMargin = (gas: bigint): bigint => (gas * (100n + gasMargin_percent)) / 100n + newSlot_gas;

/** The account's coin, and each token by its address as the catalogue spells it. */
export async function balancesOf(node: EvmNode, { chain, account }: Payer) {
  const addresses = chain.tokens.map(({ address }) => address);
  const [gas, ...held] = await Promise.all([
    coinBalance(node, account),
    ...addresses.map((token) => tokenBalance(node, account, token)),
  ]);
  return { gas, tokens: Object.fromEntries(addresses.map((token, at) => [token, held[at] ?? 0n])) };
}

/** @throws PayoutBlocked when the account holds less than the order's amount */
export const checkTokens = async (node: EvmNode, { account }: Payer, order: TransferOrder): Promise<void> =>
  checkFloat(await tokenBalance(node, account, order.token.address), account, order);

/** @throws PayoutBlocked when the account's coin cannot pay for the gas, twice */
export async function checkGas(
  node: EvmNode,
  { chain, account }: Payer,
  gas: bigint,
  { maxFeePerGas }: GasPrice,
): Promise<void> {
  const fee = { chainId: chain.id, unit: 'wei', most: gas * maxFeePerGas };
  checkCoin(await coinBalance(node, account), account, fee);
}

/**
 * Runs a transfer without sending it.
 * @returns the gas to allow
 * @throws PayoutBlocked when the token refuses it
 */
export async function rehearse(
  node: EvmNode,
  { chain, account }: Payer,
  order: TransferOrder,
  { gasMax }: EvmFees,
): Promise<bigint> {
  const call = { from: account, ...transferCall(order) };
  const refused = (why: string) =>
    new PayoutBlocked('refusedByToken', `${order.token.symbol} on ${chain.name} refuses ${order.receiver}: ${why}`);
  try {
    if (saysFalse(await simulate(node, call))) throw refused('transfer returns false');
    const gas = withMargin(await gasNeeded(node, call));
    if (gas > gasMax) throw refused(`it needs ${gas} gas, the limit is ${gasMax}`);
    return gas;
  } catch (error) {
    if (error instanceof RpcFailed && reverted(error)) throw refused(error.detail);
    throw error;
  }
}

/** Tokens return true, or like Ethereum's USDT nothing at all. */
function saysFalse(returned: Hex): boolean {
  if (returned === '0x') return false;
  return !decodeFunctionResult({ abi: erc20Abi, functionName: 'transfer', data: returned });
}

/** A revert is an answer about the call (code 3, or said in words); any other error is about the node. */
const reverted = ({ kind, code, detail }: RpcFailed): boolean =>
  kind === 'refused' && (code === 3 || /revert/i.test(detail));

/** Headroom for a base fee that rises by an eighth per block: six full blocks. */
const baseFeeFactor = 2n;

/**
 * @param tip_wei what the node suggests
 * @throws PayoutBlocked when the chain asks for more than the configured maximum
 */
export function priceFor(baseFee_wei: bigint, tip_wei: bigint, limits: EvmFees): GasPrice {
  const tip = higher(tip_wei, limits.minTip_wei);
  checkPrice(baseFee_wei + tip, limits);
  return { maxFeePerGas: boundedPrice(baseFee_wei, tip, limits), maxPriorityFeePerGas: tip };
}

const boundedPrice = (baseFee_wei: bigint, tip: bigint, limits: EvmFees): bigint =>
  lower(baseFee_wei * baseFeeFactor + tip, limits.maxFeePerGas_wei);

/** What a transfer costs, in wei, at twice the base fee of now; never more than the configured maximum, beyond which nothing is signed. */
export const usualCost = (baseFee_wei: bigint, tip_wei: bigint, limits: EvmFees): bigint =>
  limits.gasUsual * boundedPrice(baseFee_wei, higher(tip_wei, limits.minTip_wei), limits);

/** Nodes replace a pending transaction only when both caps rise by 10 % or more; an eighth, rounded up, is enough everywhere. */
const bumped = (old: bigint): bigint => (old * 9n + 7n) / 8n;

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
