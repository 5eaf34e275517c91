/** Blocks, transactions, receipts and logs as JSON-RPC has them (ethereum/execution-apis). */
import { keccak256 } from 'viem';
import { type Block, busyBlocks, type Log, type Mined, type Place } from './blocks.ts';
import type { Transaction } from './transactions.ts';

export const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;

const bloom_bytes = 256;
const noLogs = `0x${'00'.repeat(bloom_bytes)}`;
const bitsOf = new Map<string, readonly number[]>();

/** Yellow Paper 4.3.1. Contains only addresses and first topics, because no reader needs more. */
function bits(value: string): readonly number[] {
  const known = bitsOf.get(value);
  if (known) return known;
  const hash = keccak256(value as `0x${string}`);
  const found = [2, 6, 10].map((at) => Number.parseInt(hash.slice(at, at + 4), 16) & 2_047);
  if (bitsOf.size < 1_000) bitsOf.set(value, found);
  return found;
}

function bloomOf(block: Block): string {
  const logs = block.mined.flatMap((each) => each.logs);
  if (logs.length === 0) return noLogs;
  const bloom = new Uint8Array(bloom_bytes);
  for (const { address, topics } of logs)
    for (const bit of [address, topics[0] ?? '0x'].flatMap(bits)) {
      const at = bloom_bytes - 1 - (bit >> 3);
      bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
    }
  return `0x${Buffer.from(bloom).toString('hex')}`;
}

export const gasUsedIn = ({ mined }: Block): bigint => mined.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
export const gasLimit = 30_000_000n;

export function blockAnswer(block: Block, whole: boolean): object {
  const { number, hash, parent, time_s, baseFee_wei, mined } = block;
  return {
    number: quantity(number),
    hash,
    parentHash: parent?.hash ?? `0x${'00'.repeat(32)}`,
    timestamp: quantity(time_s),
    baseFeePerGas: quantity(baseFee_wei),
    gasLimit: quantity(gasLimit),
    gasUsed: quantity(gasUsedIn(block)),
    logsBloom: bloomOf(block),
    transactions: mined.map(({ transaction }, at) =>
      whole ? transactionAnswer(transaction, { block, at }) : transaction.hash,
    ),
  };
}

export function transactionAnswer(transaction: Transaction, place?: Place): object {
  const { hash, from, to, data, value, nonce, gas, maxFee_wei, maxTip_wei } = transaction;
  return {
    hash,
    from,
    to,
    input: data,
    value: quantity(value),
    nonce: quantity(nonce),
    gas: quantity(gas),
    maxFeePerGas: quantity(maxFee_wei),
    maxPriorityFeePerGas: quantity(maxTip_wei),
    type: '0x2',
    blockHash: place?.block.hash ?? null,
    blockNumber: place ? quantity(place.block.number) : null,
    transactionIndex: place ? quantity(place.at) : null,
  };
}

export function receiptAnswer({ block, at }: Place, extraFee_wei: bigint): object | null {
  const mined = block.mined[at];
  if (!mined) return null;
  const { transaction, succeeded, gasUsed, price_wei } = mined;
  return {
    transactionHash: transaction.hash,
    transactionIndex: quantity(at),
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    from: transaction.from,
    to: transaction.to,
    status: succeeded ? '0x1' : '0x0',
    gasUsed: quantity(gasUsed),
    effectiveGasPrice: quantity(price_wei),
    ...(extraFee_wei > 0n && { l1Fee: quantity(extraFee_wei) }),
    logs: mined.logs.map((log, index) => logAnswer(log, { block, at, mined, index })),
  };
}

interface LogPlace extends Place {
  readonly mined: Mined;
  readonly index: number;
}

const logAnswer = (log: Log, { block, at, mined, index }: LogPlace): object => ({
  ...log,
  transactionHash: mined.transaction.hash,
  transactionIndex: quantity(at),
  blockHash: block.hash,
  blockNumber: quantity(block.number),
  blockTimestamp: quantity(block.time_s),
  logIndex: quantity(mined.firstLog + index),
  removed: false,
});

export interface LogFilter {
  readonly address?: string | readonly string[];
  readonly topics?: readonly (string | readonly string[] | null)[];
}

const lower = (wanted: string | readonly string[]): readonly string[] =>
  [wanted].flat().map((each) => each.toLowerCase());

function fits(log: Log, { address, topics = [] }: LogFilter): boolean {
  if (address !== undefined && !lower(address).includes(log.address)) return false;
  return topics.every((wanted, at) => wanted === null || lower(wanted).includes(log.topics[at] ?? ''));
}

/** The logs of a branch between two heights, in order. */
export function logsAnswer(tip: Block, filter: LogFilter, least: number): readonly object[] {
  const blocks = [...busyBlocks(tip, least)].reverse();
  return blocks.flatMap((block) =>
    block.mined.flatMap((mined, at) =>
      mined.logs.flatMap((log, index) => (fits(log, filter) ? [logAnswer(log, { block, at, mined, index })] : [])),
    ),
  );
}
