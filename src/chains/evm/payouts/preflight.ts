/** Checks before a signature, so a transfer is refused here instead of reverted, or short, on the chain. */

import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { transferProbe } from '../../../../contracts/evm/artifacts/TransferProbe.ts';
import type { Chain } from '../../../../domain/chains.ts';
import { formatAmount } from '../../../../domain/money.ts';
import { checkCoin, checkCoinFloat, checkFloat } from '../../money/spending.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { coinBalance, gasNeeded, simulate, simulateAs, tokenBalance } from '../accounts.ts';
import type { EvmFees } from '../config.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { withMargin } from './prices.ts';
import { callFor, transferCall } from './transaction.ts';

/** Code 3 is geth's, -32015 Nethermind's and OpenEthereum's. */
const revertCodes: ReadonlySet<number | undefined> = new Set([3, -32015]);
/**
 * A contract may halt instead of reverting. Only the text reveals it: geth uses -32000 for halts and for failures of the node. "gas
 * required exceeds allowance" is geth's answer to an estimate above the block's gas limit or the node's own cap.
 */
const revertWords: readonly RegExp[] = [
  /revert|vm execution error|evm error/i,
  /out of gas|gas required exceeds|gas uint64 overflow/i,
  /invalid (opcode|jump|code)|stack (under|over)flow|stack limit|call depth/i,
  /write protection|return data out of bounds|max code size/i,
];

/** Returns true if the call itself failed: it reverted or halted. Every other error is about the node. */
export const isRevert = (error: unknown): error is RpcFailed =>
  error instanceof RpcFailed &&
  error.kind === 'refused' &&
  (revertCodes.has(error.code) || revertWords.some((words) => words.test(error.detail)));

/**
 * Simulates a transfer on a node before its signature: the amount that would arrive, or why the token refuses it.
 * @returns the amount that would arrive, in smallest units. For a node without state overrides, only whether the token accepts the transfer
 * is known, and the full amount is assumed.
 */
export function createRehearsal(account: Address): (node: EvmNode, order: TransferOrder) => Promise<bigint> {
  const unable = new Set<string>();

  return async (node, order) => {
    // A payment to itself changes no balance.
    const probed = order.receiver === account || unable.has(node.name) ? undefined : await probe(node, order);
    if (probed !== undefined) return probed;
    const returned = await simulate(node, { from: account, ...transferCall(order) });
    return saysFalse(returned) ? 0n : order.amount;
  };

  async function probe(node: EvmNode, { token, receiver, amount }: TransferOrder): Promise<bigint | undefined> {
    const { abi, code } = transferProbe;
    const args = [token.address as Address, receiver as Address, amount] as const;
    const data = encodeFunctionData({ abi, functionName: 'arrives', args });
    const answer = await simulateAs(node, { account, code, data }).catch((error) => {
      const cannot = error instanceof RpcFailed && error.kind === 'refused' && !isRevert(error);
      if (!cannot) throw error;
      return '0x' as const;
    });
    // Without the code override an account returns nothing.
    if (answer.length === 66) return BigInt(answer);
    unable.add(node.name);
    return undefined;
  }
}

/** Tokens return true, or nothing at all like Ethereum's USDT. */
function saysFalse(returned: Hex): boolean {
  if (returned === '0x') return false;
  return !decodeFunctionResult({ abi: erc20Abi, functionName: 'transfer', data: returned });
}

export interface Payer {
  readonly chain: Chain;
  readonly account: Address;
}

/** The account's coin, and each token by its address in the catalogue's spelling. */
export async function balancesOf(node: EvmNode, { chain, account }: Payer) {
  const addresses = chain.tokens.map(({ address }) => address);
  const [gas, ...held] = await Promise.all([
    coinBalance(node, account),
    ...addresses.map((token) => tokenBalance(node, account, token)),
  ]);
  return { gas, tokens: Object.fromEntries(addresses.map((token, at) => [token, held[at] ?? 0n])) };
}

/** @throws PayoutBlocked if the account holds less than the order's amount */
export const checkTokens = async (node: EvmNode, { account }: Payer, order: TransferOrder): Promise<void> =>
  checkFloat(await tokenBalance(node, account, order.token.address), account, order);

interface Coin {
  /** Balance of the account. */
  readonly held: bigint;
  /** Maximum cost of the gas. */
  readonly most: bigint;
}

/** @throws PayoutBlocked if the account's coin cannot pay for the gas twice */
export const checkGas = ({ chain, account }: Payer, { held, most }: Coin): void =>
  checkCoin(held, account, { chainId: chain.id, unit: 'wei', most });

/**
 * @returns the gas to allow for a transfer of the coin
 * @throws PayoutBlocked if the account holds less than the order's amount, or the receiver accepts no coin within that gas
 */
export async function gasForCoin(
  node: EvmNode,
  { chain, account }: Payer,
  order: TransferOrder,
  { gasMax }: EvmFees,
): Promise<bigint> {
  checkFloat(await coinBalance(node, account), account, order);
  const refused = (why: string) =>
    new PayoutBlocked('refusedByToken', `${order.receiver} takes no ${order.token.symbol} on ${chain.name}: ${why}`);
  try {
    const needed = withMargin(await gasNeeded(node, { from: account, ...callFor(order, account) }));
    if (needed <= gasMax) return needed;
    throw refused(`it needs ${needed} gas, the limit is ${gasMax} (GAS_MAX_${chain.id})`);
  } catch (error) {
    if (isRevert(error)) throw refused(error.detail);
    throw error;
  }
}

/** @throws PayoutBlocked if the account's coin cannot pay for the transfer of it and the gas, twice */
export const checkCoinAndGas = ({ account }: Payer, order: TransferOrder, { held, most }: Coin): void =>
  checkCoinFloat(held, account, order, { most });

interface Trying {
  /** Amount that would arrive. */
  readonly arrives: () => Promise<bigint>;
  readonly gas: () => Promise<bigint>;
}

/**
 * @returns the gas to allow
 * @throws PayoutBlocked if the token refuses the transfer, would bring less than ordered, or needs more gas than is configured
 */
export async function checkTransfer(
  { chain }: Payer,
  { token: { symbol, decimals }, receiver, amount }: TransferOrder,
  { arrives, gas }: Trying,
  { gasMax }: EvmFees,
): Promise<bigint> {
  const refused = (why: string) =>
    new PayoutBlocked('refusedByToken', `${symbol} on ${chain.name} refuses ${receiver}: ${why}`);
  const text = (units: bigint) => formatAmount(units, decimals);
  try {
    const asked = gas();
    asked.catch(() => {});
    const brought = await arrives();
    if (brought < amount) throw refused(`${text(brought)} of ${text(amount)} would arrive`);
    const needed = await asked;
    if (needed > gasMax) throw refused(`it needs ${needed} gas, the limit is ${gasMax} (GAS_MAX_${chain.id})`);
    return needed;
  } catch (error) {
    if (isRevert(error)) throw refused(error.detail);
    throw error;
  }
}
