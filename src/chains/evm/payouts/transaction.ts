/** The transactions that a treasury account sends: what is built here, the signer takes apart again and checks. */
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { higher, lower } from '../../bigints.ts';
import { PayoutBlocked, type TransferOrder, type Unsigned } from '../../ports.ts';
import type { EvmFees } from '../config.ts';

/** A type 2 transaction (EIP-1559) without its signature; numbers as digit texts. */
export interface EvmPayload {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
}

export interface GasPrice {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export const transferCall = ({ token, receiver, amount }: TransferOrder): Call => ({
  to: token.address as Address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver as Address, amount] }),
});

/** Orders nothing: for transactions that are no transfer from the treasury. */
export function noOrder(chain: Chain, account: string): TransferOrder {
  const [token] = chain.tokens;
  assert(token !== undefined, 'every chain has a token');
  return { chainId: chain.id, token, receiver: account, receiverMemo: null, amount: 0n };
}

export interface Call {
  readonly to: Address;
  readonly data: Hex;
}

export interface Building {
  readonly account: string;
  readonly nonce: bigint;
  readonly order: TransferOrder;
  readonly call: Call;
  readonly gas: bigint;
  readonly price: GasPrice;
}

export function buildUnsigned({ account, nonce, order, call, gas, price }: Building): Unsigned {
  const fee = {
    gas: gas.toString(),
    maxFeePerGas: price.maxFeePerGas.toString(),
    maxPriorityFeePerGas: price.maxPriorityFeePerGas.toString(),
  };
  const payload: EvmPayload = { ...call, ...fee };
  // An EVM transaction stays valid until another one uses its nonce.
  return { chainId: order.chainId, account, nonce, order, validUntil: null, fee, payload };
}

/** Headroom for a base fee that rises by an eighth per block: six full blocks. */
const baseFeeFactor = 2n;

/**
 * @param tip_wei what the node suggests
 * @throws PayoutBlocked when the chain asks for more than the configured maximum
 */
export function priceFor(baseFee_wei: bigint, tip_wei: bigint, limits: EvmFees): GasPrice {
  const tip = higher(tip_wei, limits.minTip_wei);
  checkPrice(baseFee_wei + tip, limits);
  const maxFeePerGas = lower(baseFee_wei * baseFeeFactor + tip, limits.maxFeePerGas_wei);
  return { maxFeePerGas, maxPriorityFeePerGas: tip };
}

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
