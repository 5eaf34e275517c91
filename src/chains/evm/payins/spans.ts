/** How many blocks a search for logs spans: as many as a node says it takes, or as many as it has been found to take. */
import { higher, lower } from '../../../lib/bigints.ts';
import { mostSaid } from '../../node/refusals.ts';
import type { EvmNode, RpcFailed } from '../rpc.ts';

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

/** What all of these nodes should take. */
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
