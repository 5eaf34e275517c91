/**
 * Wide ranges of blocks, far behind the head. One URL may stand for several nodes, and one that lags answers a range with nothing: so a
 * range is believed when a second node answers the same, and is read block by block otherwise.
 */
import type { Chain } from '../../../../domain/chains.ts';
import { higher, lower } from '../../../lib/inParallel.ts';
import { mostSaid } from '../../node/jsonRpc.ts';
import type { Cursor } from '../../ports.ts';
import { type Header, header, knownHeader, type LogsShown, type RawLog, transferLogs } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { addressesOf, type BlocksRead, blocksOf, headersAt, inOrder } from './blocks.ts';
import { type Told, tell } from './transfers.ts';

/** After so many good answers in a row a wider range is tried. */
const goodEnough = 8;

/** Halved when a node refuses it or takes too long, doubled after a while without. */
export interface RangeSize {
  blocks: bigint;
  good: number;
  readonly most: bigint;
  /** Ranges for which no second node is asked. */
  alone: number;
}

/** Blocks that a search for logs may span on all of these nodes: the limit that a node states, or the one found by trying. */
export const spanOf = ({ blocks, most }: RangeSize, ...nodes: readonly EvmNode[]): bigint =>
  nodes.map(({ limits }) => BigInt(limits.most('logBlocks') ?? most)).reduce(lower, blocks);

export function widen(size: RangeSize): void {
  size.good++;
  if (size.good < goodEnough) return;
  size.good = 0;
  size.blocks = lower(size.most, size.blocks * 2n);
}

/** After a node has refused a span, or took too long for it. What it says of its own limit holds for it alone, and for good. */
export function narrow(size: RangeSize, span: bigint, { limits }: EvmNode, { kind, detail }: RpcFailed): void {
  const said = kind === 'refused' ? mostSaid(detail) : undefined;
  if (said !== undefined && BigInt(said) < span) limits.learn('logBlocks', said);
  else Object.assign(size, { blocks: higher(1n, span / 2n), good: 0 });
}

/** A second node that does not answer is left alone for so many ranges. */
const withoutSecond_ranges = 50;

/**
 * One wide range after the cursor, ending at `end` at most, as two nodes show it alike.
 * @param others the other nodes of the chain
 * @returns undefined when none of them can say, or they differ: nothing is known then
 * @throws RpcFailed when the node itself fails
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
    // Its hash is read before the logs: if a fork comes between the two, the next scan sees that the hash is no longer there.
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

/** Whether the second node has come so far, on the same chain: one that has not answers a range with nothing, too. */
async function has(second: EvmNode, { number, hash }: Header, size: RangeSize): Promise<boolean> {
  const there = await orFailure(header(second, number));
  if (there instanceof RpcFailed) size.alone = withoutSecond_ranges;
  return !(there instanceof RpcFailed) && there?.hash === hash;
}

async function logsOf(chain: Chain, node: EvmNode, { from, to }: { from: bigint; to: bigint }) {
  const raw = await transferLogs(node, addressesOf(chain), { from, to });
  return inOrder(raw, node, (log) => log.blockNumber >= from && log.blockNumber <= to);
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

/** Of a node that does not say in a log when its block was, the blocks are asked for. */
export async function withTimes(chain: Chain, node: EvmNode, shown: LogsShown, end: Header): Promise<Told> {
  const untimed = new Set(
    shown.logs.flatMap((log) =>
      log.blockTime_s === undefined && log.blockNumber !== end.number ? log.blockNumber : [],
    ),
  );
  const headers = await headersAt(node, [...untimed]);
  const times = new Map([...headers, end].map(({ number, time_s }) => [number, time_s]));
  const timeOf = (log: RawLog) => log.blockTime_s ?? times.get(log.blockNumber) ?? end.time_s;
  return tell(chain, shown, timeOf, end.number);
}

const near_ms = 60_000;
const remembered_ms = 600_000;
const stepBack_ms = 300_000;
const recallStep_ms = 4_000;

export interface Windows {
  /**
   * Nearer to the head than this, blocks are read with a proof that the node has them; so are those that nobody else can vouch for. A
   * node behind a balancer may lag and answer a range with nothing.
   */
  readonly near_blocks: bigint;
  /** How far back a pass remembers blocks by their hashes, to say which of them a fork has removed. */
  readonly remembered_blocks: bigint;
  /** How far a pass steps back when it remembers no block that is still on the chain, as after a restart. Reading again is harmless. */
  readonly stepBack_blocks: bigint;
  /** How far apart the blocks are that a pass learns anew after a restart, but for the newest. */
  readonly recallStep_blocks: bigint;
}

/** Converts periods of a chain's time into blocks. Periods whose number of blocks matters have a minimum, which slower chains keep. */
export function windowsOf({ block_ms }: Pick<Chain, 'block_ms'>): Windows {
  const blocks = (time_ms: number, least: number) => BigInt(Math.max(least, Math.ceil(time_ms / block_ms)));
  return {
    near_blocks: blocks(near_ms, 64),
    remembered_blocks: blocks(remembered_ms, 256),
    stepBack_blocks: blocks(stepBack_ms, 128),
    recallStep_blocks: blocks(recallStep_ms, 1),
  };
}
