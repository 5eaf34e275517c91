/** Moves the passes of one chain forward, each with its own cursor. */
import { chainOf } from '../../../../domain/chains.ts';
import { epochMs, instant } from '../../../../domain/time.ts';
import { higher } from '../../../lib/bigints.ts';
import { isShared, toldByEnough } from '../../node/agreement.ts';
import type { Cursor, Ingester, Pass, ScannedRange } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import { finalHeight } from '../finality.ts';
import { type Header, header, knownHeader } from '../reads.ts';
import { type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import type { Headers } from './headers.ts';
import { createLooks } from './looks.ts';
import { createTrail } from './recentBlocks.ts';
import type { ShownBlocks } from './shownBlocks.ts';
import { windowsOf } from './windows.ts';

interface RangeFound {
  readonly range: ScannedRange;
  /** Whether the pass has come as far as this node shows. */
  readonly isEnd: boolean;
}

/** Ranges that one call of `scan` may yield, so that its caller gets control back during a long catch-up. */
const rangesMax = 50;
interface EvmScanner extends Pick<Ingester, 'start' | 'cursorAt' | 'scan'> {
  /** The highest block that any pass has read. */
  reached(): bigint;
  /** The node that the head was followed with last. */
  followed(): string | undefined;
}

/**
 * Moves the passes of one chain forward. A pass goes on only with a node whose chain reaches beyond the cursor, so that two nodes that
 * differ at the head do not send it back and forth; each range comes from one node alone.
 */
export function createScanner(
  config: EvmChainConfig,
  rpc: EvmRpc,
  { headers, shown }: { readonly headers: Headers; readonly shown: ShownBlocks },
): EvmScanner {
  const chain = chainOf(config.chainId);
  const windows = windowsOf(chain);
  const trails = { head: createTrail(windows), final: createTrail(windows), finalLarge: createTrail(windows) };
  const look = createLooks({ chain, windows, headers, rangeBlocksMax: config.rangeBlocksMax });
  let reached = 0n;
  let followed: string | undefined;

  async function endOf(node: EvmNode, pass: Pass): Promise<{ latest: Header; end: bigint }> {
    const { latest, tagged } = await headers.shownTo(pass, node);
    if (pass === 'head') return { latest, end: latest.number };
    const aged = (atMost: bigint, before_s: number) => headers.aged(node, atMost, before_s);
    return { latest, end: await finalHeight(node, latest, config.depths[pass], { tagged, aged }) };
  }

  async function nextRange(node: EvmNode, cursor: Cursor, signal: AbortSignal): Promise<RangeFound | undefined> {
    const { latest, end } = await endOf(node, cursor.pass);
    if (end <= cursor.blockNumber) return undefined;
    const trail = trails[cursor.pass];
    const others = rpc.nodes.map((connect) => connect(signal)).filter(({ name }) => name !== node.name);
    const read = await look({ node, others, latest, cursor, end, trail });
    if (read === undefined) return undefined;
    if (read === 'forked') {
      const { from, orphaned } = await trail.fork(node, cursor);
      return { range: { logs: [], orphaned, next: cursorAt(cursor, from) }, isEnd: false };
    }
    const { logs, unreadable, blocks, last } = read;
    if (cursor.pass !== 'head') await mustBeShared(rpc, node, last, signal);
    if (cursor.pass === 'head') followed = node.name;
    shown.show(node, cursor.pass, logs);
    trail.add({ number: cursor.blockNumber, hash: cursor.blockHash }, blocks);
    const range = { logs, orphaned: [], ...(unreadable.length > 0 && { unreadable }), next: cursorAt(cursor, last) };
    return { range, isEnd: last.number === end };
  }

  return {
    reached: () => reached,
    followed: () => followed,

    async start(pass, at, signal) {
      // Who names a block that is too late would hide what came before; one that is too early is only more to read.
      const told = await toldByEnough(
        rpc,
        async (node) => {
          const { end } = await endOf(node, pass);
          const newest = await knownHeader(node, higher(end, 0n));
          return blockAt(node, newest, epochMs(at) / 1_000);
        },
        signal,
      );
      const earliest = told.reduce((a, b) => (b.number < a.number ? b : a));
      return cursorAt({ chainId: chain.id, pass }, earliest);
    },

    // One word is enough: the height is the operator's, and a block that is on no other node is found to have left.
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
