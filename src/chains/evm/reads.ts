/** Typed calls of the adapter to a node. Every answer is checked: a malformed one counts as a failure of the node. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, encodeDeployData, type Hex, isHex, keccak256, numberToHex, stringToBytes } from 'viem';
import { balanceReader } from '../../../contracts/evm/artifacts/BalanceReader.ts';
import { ask, list, object, optional, type RpcJson, seconds } from '../node/jsonRpc.ts';
import { evidenceMax } from '../ports.ts';
import { type EvmNode, RpcFailed } from './rpc.ts';

export type BlockTag = bigint | 'latest' | 'safe' | 'finalized' | 'pending';

export interface Header {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly time_s: number;
  readonly baseFee_wei: bigint;
  /** Bloom filter over its logs; undefined if the node omits it. */
  readonly logsBloom: Hex | undefined;
}

export interface RawLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly logIndex: number;
  readonly removed: boolean;
  /** Undefined if the node's logs have no block time, as in older versions. */
  readonly blockTime_s: number | undefined;
}

export interface Receipt {
  readonly hash: Hex;
  readonly succeeded: boolean;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  /** Index in its block. */
  readonly index: number;
  /** Total fee paid by its sender, in the coin's smallest unit; undefined if the node does not return it. */
  readonly fee_wei: bigint | undefined;
  readonly logs: readonly RawLog[];
}

/** keccak256 of the event's signature: ERC-20. */
export const transferTopic: Hex = keccak256(stringToBytes('Transfer(address,address,uint256)'));
export const approvalTopic: Hex = keccak256(stringToBytes('Approval(address,address,uint256)'));

/** A malformed log of a node whose transaction is at least known. */
export interface BrokenLog {
  readonly txHash: Hex;
  readonly blockNumber: bigint | undefined;
  readonly receiver: Hex | undefined;
  readonly evidence: string;
}

export interface LogsShown {
  readonly logs: readonly RawLog[];
  readonly broken: readonly BrokenLog[];
}

export type LogsWhere = { readonly blockHash: Hex } | { readonly from: bigint; readonly to: bigint };

export const tagOf = (tag: BlockTag): string => (typeof tag === 'bigint' ? numberToHex(tag) : tag);

/** Undefined if the node has no such block. */
export const header = (node: EvmNode, tag: BlockTag): Promise<Header | undefined> =>
  ask(node, 'eth_getBlockByNumber', [tagOf(tag), false], (answer) => optional(answer, toHeader));

const headerByHash = (node: EvmNode, hash: string): Promise<Header | undefined> =>
  ask(node, 'eth_getBlockByHash', [hash, false], (answer) => optional(answer, toHeader));

/** Several nodes may share one address, a block or two apart: another one may have the block, or this one has it soon. */
const lagPauses_ms = [0, 100, 200];

/**
 * The node's block at a height that it must have.
 * @throws RpcFailed if it has not
 */
export async function knownHeader(node: EvmNode, tag: BlockTag): Promise<Header> {
  for (const pause_ms of typeof tag === 'bigint' ? lagPauses_ms : [0]) {
    if (pause_ms > 0) await sleep(pause_ms);
    const found = await header(node, tag);
    if (found) return found;
  }
  throw new RpcFailed(node.name, 'eth_getBlockByNumber', 'refused', `it has no block ${tag}`);
}

/**
 * Transfer logs of some contracts. By block hash, a node without the block must return an error (EIP-234); by range, a lagging one may
 * return an empty list.
 */
export const transferLogs = (node: EvmNode, address: readonly string[], where: LogsWhere): Promise<LogsShown> => {
  const { method, params } = logsCall(address, where);
  return ask(node, method, params, toLogs);
};

/** Call for the same logs, for a request with several calls. */
export function logsCall(address: readonly string[], where: LogsWhere) {
  const range = 'blockHash' in where ? where : { fromBlock: numberToHex(where.from), toBlock: numberToHex(where.to) };
  return { method: 'eth_getLogs', params: [{ address, topics: [transferTopic], ...range }] };
}

export const headerCall = (number: bigint) => ({
  method: 'eth_getBlockByNumber',
  params: [numberToHex(number), false],
});

export const receiptOf = (node: EvmNode, hash: string): Promise<Receipt | undefined> =>
  ask(node, 'eth_getTransactionReceipt', [hash], (answer) => optional(answer, toReceipt));

/** Number of transfer logs of some contracts in a block, from its receipts; undefined if the node has no such block. */
export const countReceiptLogs = (
  node: EvmNode,
  address: readonly string[],
  blockHash: Hex,
): Promise<number | undefined> => {
  const wanted = new Set(address.map((each) => each.toLowerCase()));
  return ask(node, 'eth_getBlockReceipts', [blockHash], (answer) =>
    optional(answer, (receipts) => {
      const logs = list(receipts).flatMap((receipt) => list(object(receipt)['logs']));
      const ours = logs.map(object).filter((log) => {
        const [topic] = list(log['topics']);
        return topic === transferTopic && wanted.has(hex(log['address']).toLowerCase());
      });
      return ours.length;
    }),
  );
};

export function toHeader(answer: unknown): Header {
  const { number, hash, parentHash, timestamp, baseFeePerGas, logsBloom } = object(answer);
  return {
    number: quantity(number),
    hash: hex(hash),
    parentHash: hex(parentHash),
    time_s: seconds(quantity(timestamp)),
    baseFee_wei: optional(baseFeePerGas, quantity) ?? 0n,
    logsBloom: optional(logsBloom, hex),
  };
}

export function toLogs(answer: unknown): LogsShown {
  const [logs, broken]: [RawLog[], BrokenLog[]] = [[], []];
  for (const entry of list(answer)) {
    try {
      logs.push(toLog(entry));
    } catch (error) {
      broken.push(toBrokenLog(entry, error instanceof Error ? error.message : 'unreadable'));
    }
  }
  return { logs, broken };
}

/** @throws if even its transaction is unreadable */
function toBrokenLog(entry: unknown, problem: string): BrokenLog {
  const { transactionHash, blockNumber, topics } = object(entry);
  const receiver = Array.isArray(topics) ? topics[2] : undefined;
  return {
    txHash: hex(transactionHash),
    blockNumber: isHex(blockNumber) ? quantity(blockNumber) : undefined,
    receiver: isHex(receiver) ? receiver : undefined,
    evidence: `${problem}: ${JSON.stringify(entry)}`.slice(0, evidenceMax),
  };
}

function toLog(entry: unknown): RawLog {
  const log = object(entry);
  return {
    address: hex(log['address']),
    topics: list(log['topics']).map(hex),
    data: hex(log['data']),
    txHash: hex(log['transactionHash']),
    blockNumber: quantity(log['blockNumber']),
    blockHash: hex(log['blockHash']),
    logIndex: Number(quantity(log['logIndex'])),
    removed: log['removed'] === true,
    blockTime_s: optional(log['blockTimestamp'], timeIn),
  };
}

/** Ignores an invalid time: the block itself has it. */
function timeIn(value: unknown): number | undefined {
  try {
    return seconds(quantity(value));
  } catch {
    return undefined;
  }
}

export function toReceipt(answer: unknown): Receipt {
  const receipt = object(answer);
  const { transactionHash, status, blockNumber, blockHash, transactionIndex, logs } = receipt;
  return {
    hash: hex(transactionHash),
    succeeded: quantity(status) === 1n,
    blockNumber: quantity(blockNumber),
    blockHash: hex(blockHash),
    index: Number(optional(transactionIndex, quantity) ?? 0n),
    fee_wei: feeIn(receipt),
    logs: list(logs).map(toLog),
  };
}

/** Chains of the OP stack charge extra for Ethereum's data (`l1Fee`); Arbitrum does so in units of gas. */
function feeIn({ gasUsed, effectiveGasPrice, l1Fee }: RpcJson): bigint | undefined {
  const [gas, price] = [gasUsed, effectiveGasPrice].map((each) => optional(each, quantity));
  if (gas === undefined || price === undefined) return undefined;
  return gas * price + (optional(l1Fee, quantity) ?? 0n);
}

export function hex(value: unknown): Hex {
  if (isHex(value)) return value;
  throw new Error('expected hex');
}

export function quantity(value: unknown): bigint {
  return BigInt(hex(value));
}

/** True if a block is on a node's chain. Undefined if a lagging node does not know the block. */
export async function isOnChain(
  node: EvmNode,
  { blockNumber, blockHash }: { readonly blockNumber: bigint; readonly blockHash: string },
): Promise<boolean | undefined> {
  const there = await header(node, blockNumber);
  if (there) return there.hash === blockHash;
  return (await headerByHash(node, blockHash)) ? true : undefined;
}

/** Hashes of a block's transactions; undefined if the node has no such block. */
export const transactionsIn = (node: EvmNode, blockHash: string): Promise<readonly Hex[] | undefined> =>
  ask(node, 'eth_getBlockByHash', [blockHash, false], (answer) =>
    optional(answer, (block) => list(object(block)['transactions']).map(hex)),
  );

/** Maximum words of one answer: nodes treat it as the code of a created contract, at most 24,576 bytes (EIP-170). */
const wordsMax = 512;
const word_digits = 64;

/**
 * @param tokens their contracts
 * @returns for each holder, in order, its balance of each token in smallest units
 * @throws RpcFailed also if a token has no code, or the node no longer has the block's state
 */
export async function balancesOfMany(
  node: EvmNode,
  holders: readonly string[],
  tokens: readonly string[],
  tag: BlockTag,
): Promise<readonly (readonly bigint[])[]> {
  const { abi, bytecode } = balanceReader;
  const perCall = Math.floor(wordsMax / tokens.length);
  const found: (readonly bigint[])[] = [];
  for (let from = 0; from < holders.length; from += perCall) {
    const asked = holders.slice(from, from + perCall);
    const args = [asked as readonly Address[], tokens as readonly Address[]] as const;
    const creation = { data: encodeDeployData({ abi, bytecode, args }) };
    const words = await ask(node, 'eth_call', [creation, tagOf(tag)], (answer) =>
      wordsIn(hex(answer), asked.length * tokens.length),
    );
    found.push(...asked.map((_, at) => words.slice(at * tokens.length, (at + 1) * tokens.length)));
  }
  return found;
}

function wordsIn(answer: Hex, count: number): readonly bigint[] {
  if (answer.length !== 2 + count * word_digits) throw new Error(`expected ${count} balances`);
  return Array.from({ length: count }, (_, at) =>
    BigInt(`0x${answer.slice(2 + at * word_digits, 2 + (at + 1) * word_digits)}`),
  );
}
