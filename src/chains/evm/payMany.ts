/** The contract that pays many receivers in one transaction: its address, the same on every chain, and its calls. */
import { type Address, concatHex, encodeFunctionData, getContractAddress, type Hex, parseAbi } from 'viem';
import { payMany } from '../../../contracts/evm/artifacts/PayMany.ts';
import { assert } from '../../../domain/decider.ts';
import { ask } from '../node/jsonRpc.ts';
import type { TransferOrder } from '../ports.ts';
import { deployer } from './addresses.ts';
import { hex, quantity } from './reads.ts';
import type { EvmNode } from './rpc.ts';

/** It has no owner and no arguments, so everybody can share it. */
const salt: Hex = `0x${'00'.repeat(32)}`;

export const payManyAddress: Address = getContractAddress({
  opcode: 'CREATE2',
  from: deployer,
  salt,
  bytecodeHash: payMany.bytecodeHash,
});

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

/** Transaction that deploys it; any account may send it with the same result. */
export const payManyDeployment: Call = { to: deployer, data: concatHex([salt, payMany.bytecode]) };

type Paid = Pick<TransferOrder, 'token' | 'form'>;

/** Transaction that pays a whole batch in order. */
export function payManyCall({ token, form }: Paid): Call {
  assert(form?.kind === 'payMany', 'only a batch pays many');
  const receivers = form.payments.map(({ receiver }) => receiver as Address);
  const amounts = form.payments.map(({ amount }) => amount);
  const args = [token.address as Address, receivers, amounts] as const;
  return { to: payManyAddress, data: encodeFunctionData({ abi: payMany.abi, functionName: 'payMany', args }) };
}

/** True if exactly this contract is deployed there. */
export const isPayManyThere = async (node: EvmNode): Promise<boolean> =>
  (await ask(node, 'eth_getCode', [payManyAddress, 'latest'], hex)).toLowerCase() === payMany.code;

const allowanceAbi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)']);

/** Remaining allowance of a token for an account, in smallest units. */
export function allowanceOf(node: EvmNode, account: Address, token: string): Promise<bigint> {
  const args = [account, payManyAddress] as const;
  const data = encodeFunctionData({ abi: allowanceAbi, functionName: 'allowance', args });
  return ask(node, 'eth_call', [{ to: token, data }, 'latest'], quantity);
}
