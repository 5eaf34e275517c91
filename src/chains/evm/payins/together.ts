/**
 * Any number of blocks near the head, for the cost of one: a log range, plus calls in the same request which prove that the node has both
 * ends on one chain. One URL may lead to several nodes; one request reaches one of them.
 */

import { numberToHex } from 'viem';
import type { Chain, ChainId } from '../../../../domain/chains.ts';
import { inParallel, lower } from '../../../lib/concurrency.ts';
import { type Answered, ask, list, object, readBy } from '../../node/jsonRpc.ts';
import type { Cursor } from '../../ports.ts';
import {
  type Header,
  headerCall,
  type LogsShown,
  logsCall,
  quantity,
  type RawLog,
  toHeader,
  toLogs,
  transferLogs,
} from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import {
  addressesOf,
  type BlocksRead,
  blocksOf,
  callsAtOnce,
  checkEmpty,
  isEmpty,
  sortedTransfers,
  takesTogether,
} from './blocks.ts';
import { withTimes } from './ranges.ts';

/** Maximum that geth and its forks return at once. */
const historyMax_blocks = 1_024n;

/** Chains with transfers that use no gas: Polygon's state syncs deliver deposits from Ethereum. */
const gasless: ReadonlySet<ChainId> = new Set([137]);

/**
 * Reads in one call which blocks used gas: a block without gas holds no transfers.
 * @param from the lowest height
 * @param to the highest height
 * @returns heights of blocks with gas, and of blocks missing in the answer
 */
export async function usedBlocks(
  chainId: ChainId,
  node: EvmNode,
  from: bigint,
  to: bigint,
): Promise<readonly bigint[]> {
  const used: bigint[] = [];
  for (let first = from; first <= to; first += historyMax_blocks) {
    const last = lower(to, first + historyMax_blocks - 1n);
    const unused = gasless.has(chainId) ? new Set() : await unusedAmong(node, first, last);
    for (let height = first; height <= last; height++) if (!unused.has(height)) used.push(height);
  }
  return used;
}

async function unusedAmong(node: EvmNode, first: bigint, last: bigint): Promise<ReadonlySet<bigint>> {
  try {
    const params = [numberToHex(last - first + 1n), numberToHex(last), []];
    return await ask(node, 'eth_feeHistory', params, (told) => {
      const { oldestBlock, gasUsedRatio } = object(told);
      const oldest = quantity(oldestBlock);
      return new Set(list(gasUsedRatio).flatMap((ratio, at) => (ratio === 0 ? oldest + BigInt(at) : [])));
    });
  } catch (error) {
    if (error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'malformed')) return new Set();
    throw error;
  }
}

interface Range {
  readonly cursor: Cursor;
  /** A block that the node has just returned. */
  readonly end: Header;
  /** The node's blocks at heights of the range. */
  readonly headersAt: (heights: readonly bigint[]) => Promise<readonly Header[]>;
}

/**
 * Recent activity of a node. If the first and last block of each read hold transfers, as on a busy chain, the range proves itself: it
 * contains both block hashes.
 */
export interface RangeActivity {
  /** Number of consecutive ends with transfers. */
  busy: number;
}

const busyEnough = 4;

/**
 * @param others the other nodes of the chain
 * @returns `forked` if the cursor's block is not on the node's chain; the refusal if the node has the end and refuses the range; undefined
 * if it accepts no multiple calls after all
 * @throws RpcFailed if the node lacks the end, contradicts itself or refuses the range
 */
export async function readTogether(
  chain: Chain,
  node: EvmNode,
  others: readonly EvmNode[],
  range: Range,
  liveliness: RangeActivity,
): Promise<BlocksRead | 'forked' | RpcFailed | undefined> {
  const { end } = range;
  const shown = (await byItself(chain, node, range, liveliness)) ?? (await proven(chain, node, others, range));
  if (shown === 'forked' || shown instanceof RpcFailed || shown === undefined) {
    liveliness.busy = 0;
    return shown;
  }
  liveliness.busy = at(shown, end.number).length > 0 ? liveliness.busy + 1 : 0;
  return { blocks: [...blocksOf(shown.logs), end], last: end, ...(await withTimes(chain, node, shown, end)) };
}

/** A range whose logs contain both end hashes: everything in between is complete. */
async function byItself(
  chain: Chain,
  node: EvmNode,
  { cursor, end }: Range,
  { busy }: RangeActivity,
): Promise<LogsShown | undefined> {
  if (busy < busyEnough) return undefined;
  const where = { from: cursor.blockNumber, to: end.number };
  const found = await transferLogs(node, addressesOf(chain), where).catch((error: unknown) => {
    // It may accept the range without the cursor's block, or state its limit then.
    if (error instanceof RpcFailed && error.kind === 'refused') return undefined;
    throw error;
  });
  if (!found) return undefined;
  const shown = sortedTransfers(found, node, within(cursor, end));
  const shows = (height: bigint, hash: string) => at(shown, height).some(({ blockHash }) => blockHash === hash);
  if (!shows(cursor.blockNumber, cursor.blockHash) || !shows(end.number, end.hash)) return undefined;
  return { ...shown, logs: shown.logs.filter(({ blockNumber }) => blockNumber > cursor.blockNumber) };
}

async function proven(
  chain: Chain,
  node: EvmNode,
  others: readonly EvmNode[],
  { cursor, end, headersAt }: Range,
): Promise<LogsShown | 'forked' | RpcFailed | undefined> {
  const addresses = addressesOf(chain);
  const asked = [
    headerCall(cursor.blockNumber),
    logsCall(addresses, { from: cursor.blockNumber + 1n, to: end.number }),
    logsCall(addresses, { blockHash: end.hash }),
  ];
  const [cursorsBlock, ranged, ofEnd] = await node.batch(asked, { together: true });
  if (!takesTogether(node)) return undefined;
  const there = valueIn(node, cursorsBlock);
  if (there === null || there === undefined)
    throw new RpcFailed(node.name, 'eth_getBlockByNumber', 'refused', `it has no block ${cursor.blockNumber}`);
  if (readBy(node, 'eth_getBlockByNumber', there, toHeader).hash !== cursor.blockHash) return 'forked';
  const endsLogs = readBy(node, 'eth_getLogs', valueIn(node, ofEnd), toLogs);
  if (ranged && 'failure' in ranged) return ranged.failure;
  const all = readBy(node, 'eth_getLogs', valueIn(node, ranged), toLogs);
  const shown = sortedTransfers(all, node, within(cursor, end));
  if (!areSame(at(shown, end.number), sortedTransfers(endsLogs, node, (log) => log.blockHash === end.hash).logs))
    throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', `the range ends otherwise than block ${end.number}`);
  await checkEmpty(chain, { node, others }, end, endsLogs);
  if (!isEmpty(shown)) return shown;
  if (await isEmptyElsewhere(chain, node, others, { cursor, end })) return shown;
  await checkBetween(chain, node, { cursor, end, headersAt }, shown);
  return shown;
}

/**
 * Queries the other nodes for an empty range. A lagging node answers a range that it lacks with an empty list, so its answer counts only
 * together with the range's end.
 * @returns true if one of them could answer. @throws RpcFailed if it returns logs and this node none
 */
async function isEmptyElsewhere(
  chain: Chain,
  node: EvmNode,
  others: readonly EvmNode[],
  { cursor, end }: Pick<Range, 'cursor' | 'end'>,
): Promise<boolean> {
  const logs = logsCall(addressesOf(chain), { from: cursor.blockNumber + 1n, to: end.number });
  for (const other of others) {
    const shown = await shownWithEnd(other, logs, end).catch(unknown);
    if (shown === undefined) continue;
    if (isEmpty(shown)) return true;
    throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', `it leaves out what ${other.name} shows`);
  }
  return false;
}

/** @returns undefined if the node lacks the end. @throws RpcFailed */
async function shownWithEnd(
  node: EvmNode,
  logs: ReturnType<typeof logsCall>,
  end: Header,
): Promise<LogsShown | undefined> {
  const answers = await node.batch([headerCall(end.number), logs], { together: true });
  if (!takesTogether(node)) return undefined;
  const [block, ranged] = answers.map((answer) => valueIn(node, answer));
  if (block === null || readBy(node, 'eth_getBlockByNumber', block, toHeader).hash !== end.hash) return undefined;
  return readBy(node, 'eth_getLogs', ranged, toLogs);
}

function unknown(error: unknown): undefined {
  if (!(error instanceof RpcFailed)) throw error;
}

/**
 * Without another node: each earlier block with gas says in its header whether it may hold transfers. A final pass finds transfers that the
 * head pass missed; those that the final pass misses would be lost.
 * @throws RpcFailed if a block holds some
 */
async function checkBetween(
  chain: Chain,
  node: EvmNode,
  { cursor, end, headersAt }: Range,
  shown: LogsShown,
): Promise<void> {
  if (cursor.pass === 'head') return;
  const used = await usedBlocks(chain.id, node, cursor.blockNumber + 1n, end.number - 1n);
  const headers = used.length > 0 ? await headersAt(used) : [];
  await inParallel(headers, callsAtOnce, (header) => checkEmpty(chain, { node, others: [] }, header, shown));
}

const within =
  (cursor: Cursor, end: Header) =>
  ({ blockNumber, blockHash }: RawLog): boolean =>
    blockNumber >= cursor.blockNumber && (blockNumber < end.number || blockHash === end.hash);

const at = ({ logs }: LogsShown, height: bigint): readonly RawLog[] =>
  logs.filter(({ blockNumber }) => blockNumber === height);

const areSame = (one: readonly RawLog[], other: readonly RawLog[]): boolean =>
  one.length === other.length && one.every(({ logIndex }, index) => logIndex === other[index]?.logIndex);

function valueIn(node: EvmNode, answer: Answered | undefined): unknown {
  if (!answer) throw new RpcFailed(node.name, 'eth_getLogs', 'malformed', 'fewer answers than calls');
  if ('failure' in answer) throw answer.failure;
  return answer.value;
}
