/** A transfer is run on a node before it is signed: what it would bring its receiver, or why the token refuses it. */
import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { transferProbe } from '../../../../contracts/evm/artifacts/TransferProbe.ts';
import type { TransferOrder } from '../../ports.ts';
import { simulate, simulateAs } from '../accounts.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { transferCall } from './transaction.ts';

/** Code 3 is geth's, -32015 Nethermind's and OpenEthereum's. */
const revertCodes: ReadonlySet<number | undefined> = new Set([3, -32015]);
/**
 * A contract may halt instead of reverting. Only the words say so: geth uses -32000 for halts and for failures of the node. "gas required
 * exceeds allowance" is geth's answer to an estimate above the block's gas limit or the node's own cap.
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
 * @returns how much would arrive, in smallest units. A node that runs no code in an account's place (state override) is asked only
 * whether the token takes the transfer, and is then believed that all of it would arrive.
 */
export function createRehearsal(account: Address): (node: EvmNode, order: TransferOrder) => Promise<bigint> {
  const unable = new Set<string>();

  return async (node, order) => {
    // What the account pays itself changes no balance.
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
    // Without the code in its place an account answers with nothing.
    if (answer.length === 66) return BigInt(answer);
    unable.add(node.name);
    return undefined;
  }
}

/** Tokens return true, or like Ethereum's USDT nothing at all. */
function saysFalse(returned: Hex): boolean {
  if (returned === '0x') return false;
  return !decodeFunctionResult({ abi: erc20Abi, functionName: 'transfer', data: returned });
}
