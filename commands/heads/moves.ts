/** Effect of events on the tree: each of their streams gets a new leaf. */
import type { StoredEvent } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import { ChainBroken, linkOf } from '../codec.ts';
import {
  bucketOf,
  type KeptLeaf,
  type Subtree,
  streamKey,
  subtreeOf,
  type TopLevels,
  type TreeChange,
  TreeDamaged,
  type TreeProgress,
} from './tree.ts';

/** New events of a stream: the leaf that they follow, and the newest event. */
interface Move extends KeptLeaf {
  readonly stream: string;
  readonly follows: { readonly revision: bigint; readonly link: string | null };
}

export interface Moves {
  /** Number of events. */
  readonly count: number;
  readonly newest: { readonly position: bigint; readonly until: Instant } | null;
  /** Reports an event that does not follow its predecessor, and skips it and the stream's later ones. */
  add(event: StoredEvent): void;
  readonly all: readonly Move[];
}

export type TellBroken = (broken: ChainBroken) => void;

export function createMoves(tell: TellBroken): Moves {
  const moves = new Map<string, Move>();
  let count = 0;
  let newest: Moves['newest'] = null;
  return {
    get count() {
      return count;
    },
    get newest() {
      return newest;
    },
    get all() {
      return [...moves.values()];
    },
    add(event) {
      const { stream, revision, metadata, position } = event;
      count += 1;
      newest = { position, until: metadata.at };
      const before = moves.get(stream);
      const link = linkOf(event);
      if (!before) {
        const follows = { revision: revision - 1n, link: metadata.prev };
        moves.set(stream, { stream, key: streamKey(stream), revision, link, follows });
      } else if (before.revision + 1n === revision && before.link === metadata.prev)
        moves.set(stream, { ...before, revision, link });
      else tell(broken(event, before));
    },
  };
}

const bucketsAtOnce = 2_000;

/**
 * Applies moves to the tree. Compares each changed bucket with its signed state first.
 * @returns number of additional streams and events
 * @throws TreeDamaged
 */
export async function applyMoves(
  change: Pick<TreeChange, 'leavesIn' | 'put'>,
  crown: TopLevels,
  moves: readonly Move[],
  tell: TellBroken,
): Promise<Pick<TreeProgress, 'streams' | 'events'>> {
  const byBucket = [...Map.groupBy(moves, ({ key }) => bucketOf(key))];
  let [streams, events] = [0n, 0n];
  for (let done = 0; done < byBucket.length; done += bucketsAtOnce) {
    const some = byBucket.slice(done, done + bucketsAtOnce);
    const kept = Map.groupBy(await change.leavesIn(some.map(([bucket]) => bucket)), ({ key }) => bucketOf(key));
    const parts = new Map<number, Subtree>();
    const put: KeptLeaf[] = [];
    for (const [bucket, ofBucket] of some) {
      const leaves = kept.get(bucket) ?? [];
      mustBe(crown.at(bucket), leaves);
      const after = new Map(leaves.map((leaf) => [leaf.key.toString('hex'), leaf]));
      for (const move of ofBucket) {
        const name = move.key.toString('hex');
        const before = after.get(name);
        if (!follows(move, before)) {
          tell(broken(move, before));
          continue;
        }
        streams += before ? 0n : 1n;
        events += move.revision - (before?.revision ?? -1n);
        after.set(name, move);
        put.push(move);
      }
      if (after.size > 0) parts.set(bucket, subtreeOf([...after.values()]));
    }
    await change.put(put, parts);
    crown.set(parts);
  }
  return { streams, events };
}

function mustBe(part: Subtree, leaves: readonly KeptLeaf[]): void {
  const found = subtreeOf(leaves);
  if (found.kind !== part.kind || !found.hash.equals(part.hash))
    throw new TreeDamaged('rows of ops.head_leaves are not those that were signed: they are made again from the log');
}

const follows = (move: Move, before: KeptLeaf | undefined): boolean =>
  move.follows.revision === (before?.revision ?? -1n) && move.follows.link === (before?.link ?? null);

const broken = ({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>, before: KeptLeaf | undefined) =>
  new ChainBroken({
    stream,
    revision,
    expected: `revision ${(before?.revision ?? -1n) + 1n} after ${before?.link ?? 'nothing'}`,
    found: 'one that does not follow it',
  });
