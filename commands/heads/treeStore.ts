/** Where the tree's leaves are kept. All of it can be made again from the log; the newest head tells whether it is what was signed. */
import type { Instant } from '../../domain/time.ts';
import { TransientError } from '../ports.ts';
import { bucketOf, type Crown, createCrown, crownBits } from './crown.ts';
import { type Way, wayTo } from './proof.ts';
import { keyOf, type Leaf, leafAt, type Part, rootOf } from './tree.ts';

/** A stream's newest event, under its key. */
export interface KeptLeaf {
  readonly key: Buffer;
  readonly revision: bigint;
  readonly link: string;
}

/** What the kept leaves stand for. */
export interface Progress {
  /** Log position of the newest event that is in them. */
  readonly position: bigint;
  readonly until: Instant;
  readonly streams: bigint;
  readonly events: bigint;
}

/** Changes that stand together or not at all. */
export interface TreeChange {
  readonly leavesIn: (buckets: readonly number[]) => Promise<readonly KeptLeaf[]>;
  readonly put: (leaves: readonly KeptLeaf[], parts: ReadonlyMap<number, Part>) => Promise<void>;
  readonly moveTo: (to: Progress) => Promise<void>;
}

export interface TreeStore {
  readonly progress: () => Promise<Progress | null>;
  /** Of all buckets that hold something. */
  readonly parts: () => Promise<ReadonlyMap<number, Part>>;
  readonly leavesIn: (buckets: readonly number[]) => Promise<readonly KeptLeaf[]>;
  /** One at a time, and undone when `work` throws. @throws TreeMoved when it is no longer at `from` */
  readonly change: <T>(from: Progress | null, work: (change: TreeChange) => Promise<T>) => Promise<T>;
  /** Forgets everything. */
  readonly clear: () => Promise<void>;
}

/** Another instance moved the tree: it signs heads now. */
export class TreeMoved extends TransientError {
  override readonly name = 'TreeMoved';
  constructor() {
    super('another instance moved the tree of heads: load it again');
  }
}

/** The kept leaves are not those that were signed. */
export class TreeDamaged extends Error {
  override readonly name = 'TreeDamaged';
}

export async function loadCrown(store: Pick<TreeStore, 'parts'>): Promise<Crown> {
  const crown = createCrown();
  crown.set(await store.parts());
  return crown;
}

export const asLeaf = ({ key, revision, link }: KeptLeaf): Leaf => leafAt(key, revision, link);

/** What a bucket is. @param leaves in any order */
export const partOf = (leaves: readonly KeptLeaf[]): Part =>
  rootOf(leaves.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(asLeaf), crownBits);

/** The stream as the tree has it, and the way to it; null when it has none. */
export async function findInTree(
  store: Pick<TreeStore, 'leavesIn'>,
  crown: Crown,
  stream: string,
): Promise<{ readonly leaf: KeptLeaf; readonly way: Way } | null> {
  const key = keyOf(stream);
  const leaves = (await store.leavesIn([bucketOf(key)])).toSorted((a, b) => Buffer.compare(a.key, b.key));
  const leaf = leaves.find((kept) => kept.key.equals(key));
  if (!leaf) return null;
  const { way, more } = crown.wayTo(key);
  return { leaf, way: more ? [...way, ...wayTo(key, leaves.map(asLeaf), crownBits)] : way };
}
