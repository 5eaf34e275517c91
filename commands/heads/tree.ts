/**
 * One root over the newest events of all streams: a sparse Merkle tree. The bits of a stream's key, the SHA-256 of its name, lead to its
 * leaf; so a proof can also show that a stream is absent.
 *
 * Leaf: SHA-256(0x00, key, revision in 8 bytes, link). Node: SHA-256(0x01, left, right). An empty subtree is 32 zero bytes; a subtree with
 * one stream is that stream's leaf. The prefixes keep leaves and nodes apart (RFC 6962, 2.1), and the leaf holds its key, so no hash is
 * valid at another position.
 */

import { hash } from 'node:crypto';
import { assert } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import { TransientError } from '../ports.ts';

/** A stream's newest event. `link`: `linkOf` it, as hex. */
export interface StreamTip {
  readonly stream: string;
  readonly revision: bigint;
  readonly link: string;
}

/** A subtree. Whether it holds exactly one stream decides its hash together with an empty sibling. */
export interface Subtree {
  readonly kind: 'empty' | 'leaf' | 'node';
  readonly hash: Buffer;
}

export interface Leaf {
  readonly key: Buffer;
  readonly hash: Buffer;
}

const hash_bytes = 32;
/** Depth at which a key is complete. */
export const depthMax = 8 * hash_bytes;
export const emptySubtree: Subtree = { kind: 'empty', hash: Buffer.alloc(hash_bytes) };

const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

export const streamKey = (stream: string): Buffer => hash('sha256', stream, 'buffer');

export const leafOf = ({ stream, revision, link }: StreamTip): Leaf => leafAt(streamKey(stream), revision, link);

/** @param key `keyOf` a stream */
export function leafAt(key: Buffer, revision: bigint, link: string): Leaf {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(revision);
  return { key, hash: sha256(leafTag, key, number, Buffer.from(link, 'hex')) };
}

const leafTag = Buffer.of(0);
const nodeTag = Buffer.of(1);

export const bitOf = (key: Uint8Array, depth: number): 0 | 1 =>
  (((key[depth >> 3] ?? 0) >> (7 - (depth & 7))) & 1) as 0 | 1;

/** Combines two halves. */
export function join(left: Subtree, right: Subtree): Subtree {
  if (left.kind === 'empty' && right.kind !== 'node') return right;
  if (right.kind === 'empty' && left.kind === 'leaf') return left;
  return { kind: 'node', hash: nodeOf(left.hash, right.hash) };
}

export const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodeTag, left, right);

export interface RootBuilder {
  /** Adds leaves in the order of keys, each once. */
  add(leaf: Leaf): void;
  /** The subtree of all leaves, at `from`. */
  end(): Subtree;
}

/**
 * Computes the root over a sequence of leaves; holds at most one subtree per depth.
 * @param from depth of the subtree: all keys share that many first bits
 */
export function createRoot(from = 0): RootBuilder {
  /** Left halves that wait for their right halves, by increasing depth. */
  const waiting: { readonly part: Subtree; readonly depth: number }[] = [];
  let last: Leaf | null = null;
  /** Above this depth the last leaf has been alone so far. */
  let alone = from;

  /** Raises the last leaf to the depth at which the next leaf branches off. */
  function rise(key: Buffer, part: Subtree, start: number, until: number): void {
    let [risen, depth] = [part, start];
    for (; depth > until; depth -= 1) {
      const left = waiting.at(-1);
      if (left?.depth === depth) {
        waiting.pop();
        risen = join(left.part, risen);
      } else risen = bitOf(key, depth - 1) === 1 ? join(emptySubtree, risen) : join(risen, emptySubtree);
    }
    waiting.push({ part: risen, depth });
  }

  return {
    add(leaf) {
      if (last) {
        const shared = sharedBits(last.key, leaf.key);
        assert(
          shared >= from && shared < depthMax && bitOf(leaf.key, shared) === 1,
          'leaves come in the order of their keys, each once',
        );
        rise(last.key, { kind: 'leaf', hash: last.hash }, Math.max(alone, shared + 1), shared + 1);
        alone = shared + 1;
      }
      last = leaf;
    },
    end() {
      if (!last) return emptySubtree;
      rise(last.key, { kind: 'leaf', hash: last.hash }, alone, from);
      const [{ part } = { part: emptySubtree }] = waiting;
      return part;
    },
  };
}

function sharedBits(a: Uint8Array, b: Uint8Array): number {
  let byte = 0;
  while (byte < hash_bytes && a[byte] === b[byte]) byte += 1;
  if (byte === hash_bytes) return depthMax;
  return 8 * byte + Math.clz32((a[byte] ?? 0) ^ (b[byte] ?? 0)) - 24;
}

/** @param leaves in the order of their keys */
export function rootOf(leaves: Iterable<Leaf>, from = 0): Subtree {
  const root = createRoot(from);
  for (const leaf of leaves) root.add(leaf);
  return root.end();
}

export const sortedLeaves = (leaves: readonly Leaf[]): Leaf[] =>
  leaves.toSorted((a, b) => Buffer.compare(a.key, b.key));

/** The root over these streams in any order, as a head holds it. */
export const rootOfStreams = (tips: readonly StreamTip[]): string =>
  rootOf(sortedLeaves(tips.map(leafOf))).hash.toString('hex');

// Top levels of the tree down to a fixed depth, in memory: 4 MB for any number of streams. A bucket, the subtree below one of their ends,
// is read when one of its streams changes; with a million streams that is about fifteen leaves.

export const topLevelBits = 16;
export const bucketCount = 2 ** topLevelBits;

/** Bucket of a key. */
export const bucketOf = (key: Buffer): number => key.readUInt16BE(0);

export interface TopLevels {
  at(bucket: number): Subtree;
  /** Recomputes the path to the root for each bucket, sharing common nodes. */
  set(parts: Iterable<readonly [bucket: number, part: Subtree]>): void;
  root(): Subtree;
  /** Path from the root to the bucket, or to a higher depth at which the key is alone. `more`: the path continues in the bucket. */
  wayTo(key: Buffer): { readonly way: Way; readonly more: boolean };
}
const kinds = ['empty', 'leaf', 'node'] as const;

/** Stored as a heap: the root is number 1, the children of n are 2n and 2n + 1, buckets come last. */
export function createTopLevels(): TopLevels {
  const kindAt = new Uint8Array(2 * bucketCount);
  const hashes = Buffer.alloc(2 * bucketCount * hash_bytes);

  function partAt(place: number): Subtree {
    const kind = kinds[kindAt[place] ?? 0] ?? 'empty';
    if (kind === 'empty') return emptySubtree;
    return { kind, hash: hashes.subarray(place * hash_bytes, (place + 1) * hash_bytes) };
  }

  function put(place: number, { kind, hash }: Subtree): void {
    kindAt[place] = kinds.indexOf(kind);
    hashes.set(hash, place * hash_bytes);
  }

  return {
    // Returned parts are copies.
    at: (bucket) => copied(partAt(bucketCount + bucket)),
    set(parts) {
      let changed = new Set<number>();
      for (const [bucket, part] of parts) {
        put(bucketCount + bucket, part);
        changed.add((bucketCount + bucket) >> 1);
      }
      for (let depth = topLevelBits - 1; depth >= 0; depth -= 1) {
        const above = new Set<number>();
        for (const place of changed) {
          put(place, join(partAt(2 * place), partAt(2 * place + 1)));
          above.add(place >> 1);
        }
        changed = above;
      }
    },
    root: () => copied(partAt(1)),
    wayTo(key) {
      const way: string[] = [];
      let place = 1;
      for (let depth = 0; depth < topLevelBits && partAt(place).kind === 'node'; depth += 1) {
        const next = 2 * place + bitOf(key, depth);
        way.push(partAt(next ^ 1).hash.toString('hex'));
        place = next;
      }
      return { way, more: place >= bucketCount && partAt(place).kind === 'node' };
    },
  };
}

const copied = ({ kind, hash }: Subtree): Subtree => ({ kind, hash: Buffer.from(hash) });

// Proofs that a root contains a stream's newest event, or does not contain the stream.

/** From the root down: the sibling hash at each depth, as hex. Ends where the stream is alone. */
export type Way = readonly string[];

/** End of a path without the stream: empty, or another stream's leaf. */
export type Other = { readonly key: string; readonly revision: bigint; readonly link: string } | null;

/** @param leaves in the order of their keys, which share the key's first `from` bits */
export function wayTo(key: Buffer, leaves: readonly Leaf[], from = 0): Way {
  const beside: string[] = [];
  let here = leaves;
  for (let depth = from; here.length > 1; depth += 1) {
    const first = here.findIndex((leaf) => bitOf(leaf.key, depth) === 1);
    const cut = first < 0 ? here.length : first;
    const [left, right] = [here.slice(0, cut), here.slice(cut)];
    const [mine, others] = bitOf(key, depth) === 1 ? [right, left] : [left, right];
    beside.push(rootOf(others, depth + 1).hash.toString('hex'));
    here = mine;
  }
  return beside;
}

/** True if that root contains this newest event of the stream. @param root as a head holds it */
export const isUnder = (root: string, tip: StreamTip, way: Way): boolean => leads(leafOf(tip), way, root);

/** True if that root contains no such stream. */
export function isAbsent(root: string, stream: string, way: Way, other: Other): boolean {
  const key = streamKey(stream);
  if (other === null) return leads({ key, hash: emptySubtree.hash }, way, root);
  const leaf = leafAt(Buffer.from(other.key, 'hex'), other.revision, other.link);
  if (leaf.key.length !== key.length || leaf.key.equals(key)) return false;
  for (let depth = 0; depth < way.length; depth += 1) if (bitOf(leaf.key, depth) !== bitOf(key, depth)) return false;
  return leads(leaf, way, root);
}

function leads({ key, hash }: Leaf, way: Way, root: string): boolean {
  if (way.length > depthMax || !way.every((beside) => /^[0-9a-f]{64}$/.test(beside))) return false;
  let risen = hash;
  for (let depth = way.length - 1; depth >= 0; depth -= 1) {
    const beside = Buffer.from(way[depth] ?? '', 'hex');
    risen = bitOf(key, depth) === 1 ? nodeOf(beside, risen) : nodeOf(risen, beside);
  }
  return risen.toString('hex') === root;
}

// Store of the tree's leaves. It can be recomputed from the log; the newest head proves it.

/** A stream's newest event, by its key. */
export interface KeptLeaf {
  readonly key: Buffer;
  readonly revision: bigint;
  readonly link: string;
}

/** Position and counts that the stored leaves represent. */
export interface TreeProgress {
  /** Log position of the newest event in the leaves. */
  readonly position: bigint;
  readonly until: Instant;
  readonly streams: bigint;
  readonly events: bigint;
}

/** Changes in one transaction. */
export interface TreeChange {
  readonly leavesIn: (buckets: readonly number[]) => Promise<readonly KeptLeaf[]>;
  readonly put: (leaves: readonly KeptLeaf[], parts: ReadonlyMap<number, Subtree>) => Promise<void>;
  readonly moveTo: (to: TreeProgress) => Promise<void>;
}

export interface TreeStore {
  readonly progress: () => Promise<TreeProgress | null>;
  /** Subtrees of all non-empty buckets. */
  readonly parts: () => Promise<ReadonlyMap<number, Subtree>>;
  readonly leavesIn: (buckets: readonly number[]) => Promise<readonly KeptLeaf[]>;
  /** Runs one change at a time, rolled back if `work` throws. @throws TreeMoved if the tree is no longer at `from` */
  readonly change: <T>(from: TreeProgress | null, work: (change: TreeChange) => Promise<T>) => Promise<T>;
  /** Deletes everything. */
  readonly clear: () => Promise<void>;
}

/** Another instance changed the tree: it signs heads now. */
export class TreeMoved extends TransientError {
  override readonly name = 'TreeMoved';
  constructor() {
    super('another instance moved the tree of heads: load it again');
  }
}

/** The stored leaves differ from the signed ones. */
export class TreeDamaged extends Error {
  override readonly name = 'TreeDamaged';
}

export async function loadTopLevels(store: Pick<TreeStore, 'parts'>): Promise<TopLevels> {
  const crown = createTopLevels();
  crown.set(await store.parts());
  return crown;
}

export const asLeaf = ({ key, revision, link }: KeptLeaf): Leaf => leafAt(key, revision, link);

/** Subtree of a bucket. @param leaves in any order */
export const subtreeOf = (leaves: readonly KeptLeaf[]): Subtree =>
  rootOf(leaves.toSorted((a, b) => Buffer.compare(a.key, b.key)).map(asLeaf), topLevelBits);

/** The stream's leaf and its path; null if the tree has none. */
export async function findInTree(
  store: Pick<TreeStore, 'leavesIn'>,
  crown: TopLevels,
  stream: string,
): Promise<{ readonly leaf: KeptLeaf; readonly way: Way } | null> {
  const key = streamKey(stream);
  const leaves = (await store.leavesIn([bucketOf(key)])).toSorted((a, b) => Buffer.compare(a.key, b.key));
  const leaf = leaves.find((kept) => kept.key.equals(key));
  if (!leaf) return null;
  const { way, more } = crown.wayTo(key);
  return { leaf, way: more ? [...way, ...wayTo(key, leaves.map(asLeaf), topLevelBits)] : way };
}
