/** One look of a pass at what has come after its cursor: which of the ways to read blocks fits, and whether the cursor's own is still there. */
import type { Chain } from '../../../../domain/chains.ts';
import { lower } from '../../../lib/bigints.ts';
import type { Cursor } from '../../ports.ts';
import { type Header, knownHeader } from '../reads.ts';
import { type EvmNode, RpcFailed } from '../rpc.ts';
import { type BlocksRead, headersAt, readByHash } from './blocks.ts';
import { takesTogether, togetherFrom_blocks } from './calls.ts';
import type { Headers } from './headers.ts';
import { readByRange } from './ranges.ts';
import type { Trail } from './recentBlocks.ts';
import { narrow, type RangeSize, spanOf, widen } from './spans.ts';
import { type Liveliness, readTogether } from './together.ts';
import type { Windows } from './windows.ts';

const firstRange_blocks = 500n;

export interface Look {
  readonly node: EvmNode;
  /** The other nodes of the chain. */
  readonly others: readonly EvmNode[];
  readonly latest: Header;
  readonly cursor: Cursor;
  /** Where the pass ends on this node. */
  readonly end: bigint;
  readonly trail: Trail;
}

interface LooksOptions {
  readonly chain: Chain;
  readonly windows: Windows;
  readonly headers: Headers;
  readonly rangeBlocksMax: number;
}

/** What a look found: `forked` when the cursor's block is not on the node's chain; undefined when a fork came while it was read. */
export type Looked = BlocksRead | 'forked' | undefined;

export function createLooks({
  chain,
  windows,
  headers,
  rangeBlocksMax,
}: LooksOptions): (look: Look) => Promise<Looked> {
  const most = BigInt(rangeBlocksMax);
  const size: RangeSize = { blocks: lower(firstRange_blocks, most), good: 0, most, alone: 0 };
  const liveliness = new Map<string, Liveliness>();

  function livelinessOf({ node, cursor }: Look): Liveliness {
    const key = `${cursor.pass} ${node.name}`;
    const known = liveliness.get(key) ?? { busy: 0 };
    liveliness.set(key, known);
    return known;
  }

  /** By one request, in as few ranges as the node takes. */
  async function together(look: Look, isNear: boolean): Promise<Looked | 'oneByOne'> {
    const { node, others, latest, cursor, end } = look;
    for (;;) {
      const to = lower(end, cursor.blockNumber + spanOf(size, node));
      if (!takesTogether(node) || to - cursor.blockNumber < togetherFrom_blocks) return 'oneByOne';
      const last = to === latest.number ? latest : await headers.at(node, to);
      const range = { cursor, end: last, headersAt: headersOf(look, isNear) };
      const found = await readTogether(chain, node, others, range, livelinessOf(look)).catch((error: unknown) => {
        if (error instanceof RpcFailed) headers.forget(node, last.hash);
        throw error;
      });
      if (found === undefined) return 'oneByOne';
      if (found instanceof RpcFailed) {
        narrow(size, to - cursor.blockNumber, node, found);
        continue;
      }
      widen(size);
      return found;
    }
  }

  /** What is far behind is not remembered: it would crowd out what the watcher and the passes share. */
  const headersOf =
    ({ node, latest }: Look, isNear: boolean) =>
    (heights: readonly bigint[]) =>
      isNear ? headers.below(node, latest, heights) : headersAt(node, heights);

  const byHash = (look: Look, isNear: boolean) =>
    readByHash(chain, look.node, look.others, look, headersOf(look, isNear));

  return async (look) => {
    const { node, others, latest, cursor, end, trail } = look;
    const far = latest.number - windows.near_blocks;
    const isNear = cursor.blockNumber >= far;
    const learns = cursor.pass === 'head' && trail.isEmpty();
    if (isNear && !learns) {
      const found = await together(look, isNear);
      if (found !== 'oneByOne') return found;
      // Blocks that follow on the cursor's by their parents' hashes say that it is on the chain: it is not asked for.
      const followed = trail.isEmpty() ? undefined : await byHash(look, isNear);
      if (followed) return followed;
    }
    const there = await knownHeader(node, cursor.blockNumber);
    if (there.hash !== cursor.blockHash) return 'forked';
    if (cursor.pass === 'head') await trail.recall(node, cursor);
    const alike = isNear ? undefined : await readByRange(chain, node, others, { cursor, end: lower(end, far) }, size);
    if (alike) return alike;
    const found =
      isNear && !learns ? 'oneByOne' : await together(isNear ? look : { ...look, end: lower(end, far) }, isNear);
    return found === 'oneByOne' ? byHash(look, isNear) : found;
  };
}
