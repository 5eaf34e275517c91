/** USDT0 (LayerZero's OFT standard) on EVM chains: the call that sends, its fee, and the contracts of a chain. */
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import {
  chainOfEndpoint,
  endpointIdOf,
  isLocking,
  isUsdt0Chain,
  layerZeroEndpoint,
  oftOn,
  sendableOn,
  type Usdt0ChainId,
  usdt0ChainIds,
} from '../../../domain/rebalance/usdt0.ts';
import { ask, askEach, text } from '../node/jsonRpc.ts';
import type { TransferOrder } from '../ports.ts';
import { type EvmNode, RpcFailed } from './rpc.ts';

export const oftAbi = parseAbi([
  'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
  'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
  'function send(SendParam sendParam, MessagingFee fee, address refundAddress) payable',
  'function quoteSend(SendParam sendParam, bool payInLzToken) view returns (MessagingFee fee)',
  'function token() view returns (address)',
  'function endpoint() view returns (address)',
  'function sharedDecimals() view returns (uint8)',
  'function decimalConversionRate() view returns (uint256)',
  'function approvalRequired() view returns (bool)',
  'function peers(uint32 eid) view returns (bytes32)',
  'event OFTSent(bytes32 indexed guid, uint32 dstEid, address indexed fromAddress, uint256 amountSentLD, uint256 amountReceivedLD)',
  'event OFTReceived(bytes32 indexed guid, uint32 srcEid, address indexed toAddress, uint256 amountReceivedLD)',
]);

interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** Wei to send along. */
  readonly value: bigint;
}

export interface Sending {
  readonly to: Usdt0ChainId;
  readonly recipient: string;
  readonly amount: bigint;
}

/**
 * The whole amount must arrive, nothing is called on the destination, and the contract's own options set the gas of the delivery. So the
 * three texts are always empty.
 */
const paramOf = ({ to, recipient, amount }: Sending) => ({
  dstEid: endpointIdOf(to),
  to: `0x${address32(recipient)}` as Hex,
  ...{ amountLD: amount, minAmountLD: amount },
  ...({ extraOptions: '0x', composeMsg: '0x', oftCmd: '0x' } as const),
});

/** Call of a send. The contract returns coin that the message does not cost to the account. @param account the treasury */
export function sendCall({ chainId, form, amount }: TransferOrder, account: Address): Call {
  assert(form?.kind === 'oftSend' && isUsdt0Chain(chainId), 'only a send of USDT0 sends');
  const to = chainOfEndpoint(form.destinationDomain);
  assert(to !== undefined, 'a send leads to a chain of ours');
  const nativeFee = BigInt(form.messageFee);
  const fee = { nativeFee, lzTokenFee: 0n };
  const args = [paramOf({ to, recipient: form.recipient, amount }), fee, account] as const;
  const data = encodeFunctionData({ abi: oftAbi, functionName: 'send', args });
  return { to: oftOn(chainId) as Address, data, value: nativeFee };
}

/** Present message fee of a send, in wei. @throws RpcFailed */
export async function quoteSend(node: EvmNode, from: Usdt0ChainId, sending: Sending): Promise<bigint> {
  const data = encodeFunctionData({ abi: oftAbi, functionName: 'quoteSend', args: [paramOf(sending), false] });
  const answer = await ask(node, 'eth_call', [{ to: oftOn(from), data }, 'latest'], text);
  const { nativeFee } = decodeFunctionResult({ abi: oftAbi, functionName: 'quoteSend', data: answer as Hex });
  return nativeFee;
}

/**
 * Compares the contracts on a chain with this release's addresses, for an operator before the first send: token, Endpoint, decimals, the
 * contracts of the other chains, and that each route states a fee.
 * @returns the comparison in words @throws RpcFailed
 */
export async function describeUsdt0(node: EvmNode, chainId: Usdt0ChainId): Promise<string> {
  const oft = oftOn(chainId);
  const others = usdt0ChainIds.filter((each) => each !== chainId);
  const names = ['token', 'endpoint', 'sharedDecimals', 'decimalConversionRate', 'approvalRequired'] as const;
  const calls = [
    ...names.map((functionName) => encodeFunctionData({ abi: oftAbi, functionName })),
    ...others.map((each) => encodeFunctionData({ abi: oftAbi, functionName: 'peers', args: [endpointIdOf(each)] })),
  ];
  const found = await askEach(
    node,
    'eth_call',
    calls.map((data) => [{ to: oft, data }, 'latest']),
    text,
  );
  if (found.some((answer) => answer === '0x')) return `no contract at ${oft}: send nothing from here`;
  const token = sendableOn(chainId);
  const expected = [
    address32(token?.address ?? layerZeroEndpoint),
    address32(layerZeroEndpoint),
    numberWord(6n),
    numberWord(1n),
    numberWord(isLocking(chainId) ? 1n : 0n),
    ...others.map((each) => address32(oftOn(each))),
  ].map((word) => `0x${word}`);
  const at = found.findIndex((answer, index) => answer.toLowerCase() !== expected[index]);
  if (at >= 0) {
    const name = names[at] ?? `peer on ${chainOf(others[at - names.length] ?? chainId).name}`;
    return `its ${name} is ${found[at]}, this release has ${expected[at]}: send nothing from here`;
  }
  const fees: string[] = [];
  for (const to of others) fees.push(`${await priceOf(node, chainId, to)} to ${chainOf(to).name}`);
  return `the contracts of this release; a message costs ${fees.join(', ')}`;
}

/** Any recipient has the same fee. */
async function priceOf(node: EvmNode, from: Usdt0ChainId, to: Usdt0ChainId): Promise<string> {
  try {
    return `${await quoteSend(node, from, { to, recipient: oftOn(to), amount: 1n })} wei`;
  } catch (error) {
    if (error instanceof RpcFailed && error.kind === 'refused') return `no fee (${error.detail})`;
    throw error;
  }
}

const numberWord = (value: bigint): string => value.toString(16).padStart(64, '0');
