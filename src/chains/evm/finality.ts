/** Depth at which a block is final: by its chain's time, by a node's tag, or by the blocks on top of it. */
import { lower } from '../../lib/concurrency.ts';
import type { FinalityDepth, FinalityTag } from './config.ts';
import { type Header, knownHeader } from './reads.ts';
import type { EvmNode } from './rpc.ts';

interface Parts {
  readonly tag: FinalityTag | undefined;
  readonly atLeast: bigint;
  readonly after_ms: number;
}

function partsOf(depth: FinalityDepth): Parts {
  if (typeof depth === 'number') return { tag: undefined, atLeast: BigInt(depth), after_ms: 0 };
  if (typeof depth === 'string') return { tag: depth, atLeast: 0n, after_ms: 0 };
  return { tag: depth.tag, atLeast: BigInt(depth.atLeast), after_ms: depth.after_ms ?? 0 };
}

/** Tag of a depth; undefined for none. */
export const finalityTagOf = (depth: FinalityDepth): FinalityTag | undefined => partsOf(depth).tag;

/** Number of blocks on top that make a block final; null if a tag decides. */
export function blocksOnTop(depth: FinalityDepth): number | null {
  const { tag, atLeast } = partsOf(depth);
  return tag === undefined ? Number(atLeast) : null;
}

/** Age of a block from which it can be final. */
export const leastAge_ms = (depth: FinalityDepth): number => partsOf(depth).after_ms;

/** Known blocks of a node, without a call. */
export interface KnownBlocks {
  readonly tagged?: ReadonlyMap<FinalityTag, Header>;
  /** Newest known block at or below this height with a time of `before_s` or earlier; undefined if none is known nearby. */
  readonly aged?: (atMost: bigint, before_s: number) => Header | undefined;
}

/**
 * Newest final height of a node at a depth; negative while the chain is shorter than that. While a tag stalls, the height stays the same:
 * nothing else makes a block final.
 * @param head the node's newest block
 * @throws RpcFailed if the node lacks the tag
 */
export async function finalHeight(
  node: EvmNode,
  head: Header,
  depth: FinalityDepth,
  seen: KnownBlocks = {},
): Promise<bigint> {
  const { tag, atLeast, after_ms } = partsOf(depth);
  const deep = head.number - atLeast;
  const height = tag ? lower(deep, (seen.tagged?.get(tag) ?? (await knownHeader(node, tag))).number) : deep;
  if (after_ms === 0 || height < 0n) return height;
  return seen.aged?.(height, head.time_s - after_ms / 1_000)?.number ?? agedHeight(node, head, { height, after_ms });
}

const stepsMax = 12;

/** On a chain faster than the catalogue says, searches deeper. Times are whole seconds, which several blocks share. */
async function agedHeight(
  node: EvmNode,
  head: Header,
  { height, after_ms }: { readonly height: bigint; readonly after_ms: number },
): Promise<bigint> {
  let at = height;
  for (let steps = 0; steps < stepsMax && at >= 0n; steps += 1) {
    const age_s = head.time_s - (await knownHeader(node, at)).time_s;
    if (age_s * 1_000 >= after_ms) return at;
    const deeper = ((head.number - at) * BigInt(after_ms)) / BigInt(Math.max(age_s, 1) * 1_000);
    at = lower(at - 1n, head.number - deeper);
  }
  return -1n;
}
