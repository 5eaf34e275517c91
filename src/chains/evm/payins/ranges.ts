/**
 * Wide block ranges, far behind the head. One URL may lead to several nodes, and a lagging one answers a range with an empty list: a range
 * counts if a second node returns the same, and is read block by block otherwise.
 */
import type { Chain } from '../../../../domain/chains.ts';
import { higher, lower } from '../../../lib/concurrency.ts';
import { mostSaid } from '../../node/jsonRpc.ts';
import type { Cursor } from '../../ports.ts';
import { type Header, header, knownHeader, type LogsShown, type RawLog, transferLogs } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { addressesOf, type BlocksRead, blocksOf, headersAt, sortedTransfers } from './blocks.ts';
import { type LogTransfers, readTransfers } from './transfers.ts';

/** Consecutive successes after which a wider range is tried. */
const goodEnough = 8;

/** Halved if a node refuses it or takes too long; doubled after a series of successes. */
export interface RangeSize {
  blocks: bigint;
  good: number;
  readonly most: bigint;
  /** Number of remaining ranges without a second node. */
  alone: number;
}

/** Maximum span of a log search on all these nodes: a node's stated limit, or the one found by trying. */
export const spanOf = ({ blocks, most }: RangeSize, ...nodes: readonly EvmNode[]): bigint =>
  nodes.map(({ limits }) => BigInt(limits.most('logBlocks') ?? most)).reduce(lower, blocks);

export function widen(size: RangeSize): void {
  size.good++;
  if (size.good < goodEnough) return;
  size.good = 0;
  size.blocks = lower(size.most, size.blocks * 2n);
}

/** Reduces the span after a refusal or timeout. A node's stated limit applies to it permanently, and to no other node. */
export function narrow(size: RangeSize, span: bigint, { limits }: EvmNode, { kind, detail }: RpcFailed): void {
  const said = kind === 'refused' ? mostSaid(detail) : undefined;
  if (said !== undefined && BigInt(said) < span) limits.learn('logBlocks', said);
  else Object.assign(size, { blocks: higher(1n, span / 2n), good: 0 });
}

/** Ranges for which an unresponsive second node is skipped. */
const withoutSecond_ranges = 50;

/**
 * One wide range after the cursor, up to `end`, that two nodes return alike.
 * @param others the other nodes of the chain
 * @returns undefined if none of them answers, or they differ: then nothing is known
 * @throws RpcFailed if the node itself fails
 */
export async function readByRange(
  chain: Chain,
  node: EvmNode,
  others: readonly EvmNode[],
  { cursor, end }: { readonly cursor: Cursor; readonly end: bigint },
  size: RangeSize,
): Promise<BlocksRead | undefined> {
  const from = cursor.blockNumber + 1n;
  const second = secondOf(others, size);
  while (second) {
    const span = spanOf(size, node, second);
    const to = lower(end, from + span - 1n);
    // Reads the end's hash before the logs: after a fork in between, the next scan finds that the hash is gone.
    const last = await knownHeader(node, to);
    if (!(await has(second, last, size))) return undefined;
    const raw = await orFailure(logsOf(chain, node, { from, to }));
    const again = raw instanceof RpcFailed ? raw : await orFailure(logsOf(chain, second, { from, to }));
    if (!(raw instanceof RpcFailed) && !(again instanceof RpcFailed)) {
      if (!areSame(raw, again)) return undefined;
      widen(size);
      return { blocks: [...blocksOf(raw.logs), last], last, ...(await withTimes(chain, node, raw, last)) };
    }
    const isNodes = raw instanceof RpcFailed;
    if (!isNodes && again instanceof RpcFailed && again.kind !== 'refused') {
      size.alone = withoutSecond_ranges;
      return undefined;
    }
    if (isNodes && (raw.kind === 'malformed' || raw.kind === 'limited' || span === 1n)) throw raw;
    if (span === 1n) return undefined;
    if (isNodes) narrow(size, span, node, raw);
    else if (again instanceof RpcFailed) narrow(size, span, second, again);
  }
  return undefined;
}

function secondOf(others: readonly EvmNode[], size: RangeSize): EvmNode | undefined {
  if (size.alone === 0) return others[0];
  size.alone -= 1;
  return undefined;
}

/** True if the second node has reached the block on the same chain: a lagging node also answers a range with an empty list. */
async function has(second: EvmNode, { number, hash }: Header, size: RangeSize): Promise<boolean> {
  const there = await orFailure(header(second, number));
  if (there instanceof RpcFailed) size.alone = withoutSecond_ranges;
  return !(there instanceof RpcFailed) && there?.hash === hash;
}

async function logsOf(chain: Chain, node: EvmNode, { from, to }: { from: bigint; to: bigint }) {
  const raw = await transferLogs(node, addressesOf(chain), { from, to });
  return sortedTransfers(raw, node, (log) => log.blockNumber >= from && log.blockNumber <= to);
}

const orFailure = <T>(asked: Promise<T>): Promise<T | RpcFailed> =>
  asked.catch((error: unknown) => {
    if (error instanceof RpcFailed) return error;
    throw error;
  });

const placeOf = ({ blockHash, logIndex }: RawLog): string => `${blockHash} ${logIndex}`;

const areSame = (one: LogsShown, other: LogsShown): boolean =>
  one.logs.length === other.logs.length &&
  one.broken.length === other.broken.length &&
  one.logs.every((log, at) => other.logs[at] && placeOf(log) === placeOf(other.logs[at]));

/** Queries the blocks of a node whose logs have no block time. */
export async function withTimes(chain: Chain, node: EvmNode, shown: LogsShown, end: Header): Promise<LogTransfers> {
  const untimed = new Set(
    shown.logs.flatMap((log) =>
      log.blockTime_s === undefined && log.blockNumber !== end.number ? log.blockNumber : [],
    ),
  );
  const headers = await headersAt(node, [...untimed]);
  const times = new Map([...headers, end].map(({ number, time_s }) => [number, time_s]));
  const timeOf = (log: RawLog) => log.blockTime_s ?? times.get(log.blockNumber) ?? end.time_s;
  return readTransfers(chain, shown, timeOf, end.number);
}

const near_ms = 60_000;
const remembered_ms = 600_000;
const stepBack_ms = 300_000;
const recallStep_ms = 4_000;

export interface Windows {
  /**
   * Within this distance of the head, blocks are read with a proof that the node has them; also if no second node can confirm a range. A
   * lagging node behind a balancer may answer a range with an empty list.
   */
  readonly near_blocks: bigint;
  /** Distance over which a pass remembers block hashes, to name the blocks that a fork removed. */
  readonly remembered_blocks: bigint;
  /** Distance that a pass steps back if it remembers no block of the chain, as after a restart. Reading again is harmless. */
  readonly stepBack_blocks: bigint;
  /** Distance between the older blocks that a pass reads after a restart. */
  readonly recallStep_blocks: bigint;
}

/** Converts periods of chain time into blocks. Critical periods have a minimum number of blocks, which slower chains keep. */
export function windowsOf({ block_ms }: Pick<Chain, 'block_ms'>): Windows {
  const blocks = (time_ms: number, least: number) => BigInt(Math.max(least, Math.ceil(time_ms / block_ms)));
  return {
    near_blocks: blocks(near_ms, 64),
    remembered_blocks: blocks(remembered_ms, 256),
    stepBack_blocks: blocks(stepBack_ms, 128),
    recallStep_blocks: blocks(recallStep_ms, 1),
  };
}
