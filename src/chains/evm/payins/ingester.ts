import { chainOf } from '../../../../domain/chains.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import { higher, lower } from '../../bigints.ts';
import { allDeny, isShared } from '../../node/agreement.ts';
import { type Cursor, type Ingester, type Pass, passes, type ScannedRange } from '../../ports.ts';
import type { EvmChainConfig, FinalityTag } from '../config.ts';
import { blocksOnTop, finalHeight, tagOf } from '../finality.ts';
import { type Header, header, isOnChain, knownHeader } from '../reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { type BlocksRead, headersAt, readByHash } from './blocks.ts';
import { createHeaders, type Headers } from './headers.ts';
import { type RangeSize, readByRange } from './ranges.ts';
import { createTrail } from './trail.ts';
import { createReceipts } from './transfers.ts';
import { windowsOf } from './windows.ts';
import { createWitnesses } from './witnesses.ts';

/** A log of EVM does not tell which of its transaction's transfers it is. */
export type EvmIngester = Ingester & Required<Pick<Ingester, 'resolve'>>;

/** Reads the catalogue tokens' transfers of one EVM chain. Every method throws ChainUnavailable when no node can answer. */
export function createEvmIngester(config: EvmChainConfig, rpc: EvmRpc = createEvmRpc(config)): EvmIngester {
  const headers = createHeaders(tagsOf(config), 2 * Number(windowsOf(chainOf(config.chainId)).near_blocks));
  const { reached, ...scanner } = createScanner(config, rpc, headers);
  const { resolve, lookUp } = createReceipts(chainOf(config.chainId), rpc, reached);
  return {
    chainId: config.chainId,
    passes,
    largeFrom: BigInt(config.largeFrom_usd),
    exposureMax_usd: config.exposureMax_usd,
    sharedAddresses: [],
    blocksOnTop: (pass) => (pass === 'head' ? 0 : blocksOnTop(config.depths[pass])),
    ...scanner,
    resolve,
    lookUp,
    agreed: createWitnesses(config, rpc, headers),
    hasLeft: (block, signal) => allDeny(rpc, (node) => isOnChain(node, block), signal),
    async head(signal) {
      const heads = await rpc.every((node) => knownHeader(node, 'latest'), signal);
      const newest = heads.reduce((a, b) => (b.number > a.number ? b : a));
      return { blockNumber: newest.number, chainTime: instant(newest.time_s * 1_000) };
    },
    nodeHeads: rpc.nodes.map((connect) => async (signal) => {
      const { latest, tagged } = await headers.watch(connect(signal));
      return { blockNumber: latest.number, mark: [latest, ...tagged.values()].map(({ hash }) => hash).join(' ') };
    }),
  };
}

/** The tags by which this chain's blocks are final: they move while the newest block stands. */
const tagsOf = ({ depths }: EvmChainConfig): readonly FinalityTag[] => [
  ...new Set([depths.final, depths.finalLarge].flatMap((depth) => tagOf(depth) ?? [])),
];

interface RangeFound {
  readonly range: ScannedRange;
  /** Whether the pass has come as far as this node shows. */
  readonly isEnd: boolean;
}

/** Ranges that one call of `scan` may yield, so that its caller gets control back during a long catch-up. */
const rangesMax = 50;
const firstRange_blocks = 500n;

interface EvmScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  /** The highest block that any pass has read. */
  reached(): bigint;
}

/**
 * Moves the passes of one chain forward. A pass goes on only with a node whose chain reaches beyond the cursor, so that two nodes that
 * differ at the head do not send it back and forth; each range comes from one node alone.
 */
function createScanner(config: EvmChainConfig, rpc: EvmRpc, headers: Headers): EvmScanner {
  const chain = chainOf(config.chainId);
  const windows = windowsOf(chain);
  const trails = { head: createTrail(windows), final: createTrail(windows), finalLarge: createTrail(windows) };
  const size: RangeSize = {
    blocks: lower(firstRange_blocks, BigInt(config.rangeBlocksMax)),
    good: 0,
    most: BigInt(config.rangeBlocksMax),
    alone: 0,
  };
  let reached = 0n;

  async function endOf(node: EvmNode, pass: Pass): Promise<{ latest: Header; end: bigint }> {
    const { latest, tagged } = await headers.shownTo(pass, node);
    const end = pass === 'head' ? latest.number : await finalHeight(node, latest, config.depths[pass], { tagged });
    return { latest, end };
  }

  async function nextRange(node: EvmNode, cursor: Cursor, signal: AbortSignal): Promise<RangeFound | undefined> {
    const { latest, end } = await endOf(node, cursor.pass);
    if (end <= cursor.blockNumber) return undefined;
    const trail = trails[cursor.pass];
    const far = latest.number - windows.near_blocks;
    const near = cursor.blockNumber >= far;
    // What is far behind is not remembered: it would crowd out what the watcher and the passes share.
    const read = (heights: readonly bigint[]) =>
      near ? headers.below(node, latest, heights) : headersAt(node, heights);
    const others = rpc.nodes.map((connect) => connect(signal)).filter(({ name }) => name !== node.name);
    const found = async (blocks: BlocksRead | undefined): Promise<RangeFound | undefined> => {
      const last = blocks?.headers.at(-1);
      if (!blocks || !last) return undefined;
      if (cursor.pass !== 'head') await mustBeShared(rpc, node, last, signal);
      trail.add({ number: cursor.blockNumber, hash: cursor.blockHash }, blocks.headers);
      return { range: { logs: blocks.logs, orphaned: [], next: cursorAt(cursor, last) }, isEnd: last.number === end };
    };
    const byHash = () => readByHash(chain, node, others, { cursor, end }, read);
    // Blocks that follow on the cursor's by their parents' hashes say that it is on the chain: it is not asked for.
    const followed = near && !trail.isEmpty() ? await found(await byHash()) : undefined;
    if (followed) return followed;
    const there = await knownHeader(node, cursor.blockNumber);
    if (there.hash !== cursor.blockHash) {
      const { from, orphaned } = await trail.fork(node, cursor);
      return { range: { logs: [], orphaned, next: cursorAt(cursor, from) }, isEnd: false };
    }
    if (cursor.pass === 'head') await trail.recall(node, cursor);
    const range = near ? undefined : await readByRange(chain, node, others, { cursor, end: lower(end, far) }, size);
    return found(range ?? (await byHash()));
  }

  return {
    reached: () => reached,

    async start(pass, at, signal) {
      const found = await rpc.answer(async (node) => {
        const { end } = await endOf(node, pass);
        const newest = await knownHeader(node, higher(end, 0n));
        return blockAt(node, newest, epochMs(at) / 1_000);
      }, signal);
      return cursorAt({ chainId: chain.id, pass }, found);
    },

    async cursorAt(pass, blockNumber, signal) {
      const found = await rpc.answer((node) => knownHeader(node, blockNumber), signal);
      return cursorAt({ chainId: chain.id, pass }, found);
    },

    async *scan(from, signal) {
      let cursor = from;
      for (let ranges = 0; ranges < rangesMax; ranges++) {
        const found = await rpc.first((node) => nextRange(node, cursor, signal), signal);
        if (!found) return;
        cursor = found.range.next;
        reached = higher(reached, cursor.blockNumber);
        yield found.range;
        if (found.isEnd) return;
      }
    },
  };
}

/** @throws RpcFailed when other nodes answer and none has the block */
async function mustBeShared(rpc: EvmRpc, node: EvmNode, { number, hash }: Header, signal: AbortSignal): Promise<void> {
  if (await isShared(rpc, node, async (other) => (await header(other, number))?.hash === hash, signal)) return;
  throw new RpcFailed(node.name, 'eth_getBlockByNumber', 'refused', `no other node shows block ${number} as ${hash}`);
}

/** The last block whose time is at or before `at_s`, between genesis and `end`; genesis when even that is later. */
async function blockAt(node: EvmNode, end: Header, at_s: number): Promise<Header> {
  if (end.time_s <= at_s) return end;
  let low = await knownHeader(node, 0n);
  let high = end.number;
  while (high - low.number > 1n) {
    const middle = await knownHeader(node, (low.number + high) / 2n);
    if (middle.time_s <= at_s) low = middle;
    else high = middle.number;
  }
  return low;
}

const cursorAt = (cursor: Pick<Cursor, 'chainId' | 'pass'>, block: Header): Cursor => ({
  chainId: cursor.chainId,
  pass: cursor.pass,
  blockNumber: block.number,
  blockHash: block.hash,
  chainTime: instant(block.time_s * 1_000),
});
