/** Where rows come from: pages in a fixed order, so that an export goes on behind the last one that it has kept. */
import type { Row } from './tables.ts';

export interface Page {
  readonly rows: readonly Row[];
  /** Everything up to here is in this page or earlier ones. Text of the source's own. */
  readonly upTo: string;
  /** From 0 to 1. */
  readonly done: number;
}

/** @param after `upTo` of the last page that was kept; null from the beginning. @throws Unavailable */
export type Source = (after: string | null) => AsyncIterable<Page>;

/** Times from the first one on, and before the second one. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

export const isIn = ({ from, to }: Period, at: string): boolean =>
  (from === null || at >= from) && (to === null || at < to);

export const shareOf = (position: bigint, end: bigint): number =>
  end === 0n || position >= end ? 1 : Number((position * 10_000n) / end) / 10_000;
