/** How deep a block must be to count as final: by its chain's time, by a node's tag, by the blocks on top of it. */
import { lower } from '../../lib/inParallel.ts';
import type { Depth, FinalityTag } from './config.ts';
import { type Header, knownHeader } from './reads.ts';
import type { EvmNode } from './rpc.ts';

interface Parts {
  readonly tag: FinalityTag | undefined;
  readonly atLeast: bigint;
  readonly after_ms: number;
}

function partsOf(depth: Depth): Parts {
  if (typeof depth === 'number') return { tag: undefined, atLeast: BigInt(depth), after_ms: 0 };
  if (typeof depth === 'string') return { tag: depth, atLeast: 0n, after_ms: 0 };
  return { tag: depth.tag, atLeast: BigInt(depth.atLeast), after_ms: depth.after_ms ?? 0 };
}

/** The tag that a depth goes by; undefined for none. */
export const tagOf = (depth: Depth): FinalityTag | undefined => partsOf(depth).tag;

/** How many blocks on top make a block final; null where a tag says so. */
export function blocksOnTop(depth: Depth): number | null {
  const { tag, atLeast } = partsOf(depth);
  return tag === undefined ? Number(atLeast) : null;
}

/** Age of a block from which it can be final. */
export const leastAge_ms = (depth: Depth): number => partsOf(depth).after_ms;

/** What is known of a node's blocks without asking it. */
export interface Seen {
  readonly tagged?: ReadonlyMap<FinalityTag, Header>;
  /** The newest block known, at this height or below, whose time is `before_s` or earlier; undefined when none is known near there. */
  readonly aged?: (atMost: bigint, before_s: number) => Header | undefined;
}

/**
 * The newest height that a node holds for final at a depth; negative while the chain is shorter than that.
 * While a tag stalls, the height stays where it is: nothing becomes final by other means.
 * @param head the node's newest block
 * @throws RpcFailed when the node lacks the tag
 */
export async function finalHeight(node: EvmNode, head: Header, depth: Depth, seen: Seen = {}): Promise<bigint> {
  const { tag, atLeast, after_ms } = partsOf(depth);
  const deep = head.number - atLeast;
  const height = tag ? lower(deep, (seen.tagged?.get(tag) ?? (await knownHeader(node, tag))).number) : deep;
  if (after_ms === 0 || height < 0n) return height;
  return seen.aged?.(height, head.time_s - after_ms / 1_000)?.number ?? agedHeight(node, head, { height, after_ms });
}

const stepsMax = 12;

/** A chain that makes blocks faster than the catalogue says is looked at deeper down. Times are whole seconds, which several blocks share. */
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
