/**
 * One root over the newest events of all streams: a sparse Merkle tree. A stream's leaf is where the bits of its key lead, its key being the
 * SHA-256 of its name; hence a proof also shows that a stream is not there.
 *
 * Leaf: SHA-256(0x00, key, revision in 8 bytes, link). Node: SHA-256(0x01, left, right). A part without streams is 32 zero bytes, a part
 * with one stream is that stream's leaf. What begins with 0x00 is never taken for what begins with 0x01 (RFC 6962, 2.1), and the leaf
 * holds its key: nothing fits another place.
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

/** A part of the tree. Whether one stream alone is in it decides what it is together with nothing. */
export interface Part {
  readonly kind: 'empty' | 'leaf' | 'node';
  readonly hash: Buffer;
}

export interface Leaf {
  readonly key: Buffer;
  readonly hash: Buffer;
}

const hash_bytes = 32;
/** The depth at which a key is told in full. */
export const depthMax = 8 * hash_bytes;
export const empty: Part = { kind: 'empty', hash: Buffer.alloc(hash_bytes) };

const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer');

export const keyOf = (stream: string): Buffer => hash('sha256', stream, 'buffer');

export const leafOf = ({ stream, revision, link }: StreamTip): Leaf => leafAt(keyOf(stream), revision, link);

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

/** What two halves are together. */
export function join(left: Part, right: Part): Part {
  if (left.kind === 'empty' && right.kind !== 'node') return right;
  if (right.kind === 'empty' && left.kind === 'leaf') return left;
  return { kind: 'node', hash: nodeOf(left.hash, right.hash) };
}

export const nodeOf = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodeTag, left, right);

export interface RootBuilder {
  /** In the order of keys, each once. */
  add(leaf: Leaf): void;
  /** The part that all of them are, at `from`. */
  end(): Part;
}

/**
 * The root over leaves that come one by one; never more than a part for each depth is held.
 * @param from depth of the part: all keys begin with the same so many bits
 */
export function createRoot(from = 0): RootBuilder {
  /** Left halves that wait for their right ones, deeper and deeper. */
  const waiting: { readonly part: Part; readonly depth: number }[] = [];
  let last: Leaf | null = null;
  /** Above this depth the last leaf was alone so far. */
  let alone = from;

  /** Takes the last leaf up to the depth at which the next one leaves its way. */
  function rise(key: Buffer, part: Part, start: number, until: number): void {
    let [risen, depth] = [part, start];
    for (; depth > until; depth -= 1) {
      const left = waiting.at(-1);
      if (left?.depth === depth) {
        waiting.pop();
        risen = join(left.part, risen);
      } else risen = bitOf(key, depth - 1) === 1 ? join(empty, risen) : join(risen, empty);
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
      if (!last) return empty;
      rise(last.key, { kind: 'leaf', hash: last.hash }, alone, from);
      const [{ part } = { part: empty }] = waiting;
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
export function rootOf(leaves: Iterable<Leaf>, from = 0): Part {
  const root = createRoot(from);
  for (const leaf of leaves) root.add(leaf);
  return root.end();
}

export const inOrder = (leaves: readonly Leaf[]): Leaf[] => leaves.toSorted((a, b) => Buffer.compare(a.key, b.key));

/** The root over these streams, in any order, as a head holds it. */
export const rootOfStreams = (tips: readonly StreamTip[]): string =>
  rootOf(inOrder(tips.map(leafOf))).hash.toString('hex');

// The tree down to a fixed depth, in memory: 4 MB however many streams there are. What is below each of its ends, a bucket, is looked up when
// one of the bucket's streams moves; of a million streams that is about fifteen leaves.

export const crownBits = 16;
export const bucketCount = 2 ** crownBits;

/** The bucket that a key leads to. */
export const bucketOf = (key: Buffer): number => key.readUInt16BE(0);

export interface Crown {
  at(bucket: number): Part;
  /** Costs a way to the root for each bucket, shared where they meet. */
  set(parts: Iterable<readonly [bucket: number, part: Part]>): void;
  root(): Part;
  /** From the root down to the bucket, or to where the key is alone before. `more`: the way goes on in the bucket. */
  wayTo(key: Buffer): { readonly way: Way; readonly more: boolean };
}
const kinds = ['empty', 'leaf', 'node'] as const;

/** As a heap: the root is number 1, below number n are 2n and 2n + 1, buckets come last. */
export function createCrown(): Crown {
  const kindAt = new Uint8Array(2 * bucketCount);
  const hashes = Buffer.alloc(2 * bucketCount * hash_bytes);

  function partAt(place: number): Part {
    const kind = kinds[kindAt[place] ?? 0] ?? 'empty';
    if (kind === 'empty') return empty;
    return { kind, hash: hashes.subarray(place * hash_bytes, (place + 1) * hash_bytes) };
  }

  function put(place: number, { kind, hash }: Part): void {
    kindAt[place] = kinds.indexOf(kind);
    hashes.set(hash, place * hash_bytes);
  }

  return {
    // What is handed out stays as it was.
    at: (bucket) => copied(partAt(bucketCount + bucket)),
    set(parts) {
      let changed = new Set<number>();
      for (const [bucket, part] of parts) {
        put(bucketCount + bucket, part);
        changed.add((bucketCount + bucket) >> 1);
      }
      for (let depth = crownBits - 1; depth >= 0; depth -= 1) {
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
      for (let depth = 0; depth < crownBits && partAt(place).kind === 'node'; depth += 1) {
        const next = 2 * place + bitOf(key, depth);
        way.push(partAt(next ^ 1).hash.toString('hex'));
        place = next;
      }
      return { way, more: place >= bucketCount && partAt(place).kind === 'node' };
    },
  };
}

const copied = ({ kind, hash }: Part): Part => ({ kind, hash: Buffer.from(hash) });

// Proofs that a stream was under a root just as it is shown, or that it was not there.

/** From the root down: the hash of what is beside the stream's way at each depth, as hex. It ends where the stream is alone. */
export type Way = readonly string[];

/** What is at the end of a way instead of the stream: nothing, or another stream's leaf. */
export type Other = { readonly key: string; readonly revision: bigint; readonly link: string } | null;

/** @param leaves in the order of their keys, all of which begin with the key's first `from` bits */
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

/** Whether the stream's newest event under that root was this one. @param root as a head holds it */
export const isUnder = (root: string, tip: StreamTip, way: Way): boolean => leads(leafOf(tip), way, root);

/** Whether there was no such stream under that root. */
export function isAbsent(root: string, stream: string, way: Way, other: Other): boolean {
  const key = keyOf(stream);
  if (other === null) return leads({ key, hash: empty.hash }, way, root);
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

// Where the tree's leaves are kept. All of it can be made again from the log; the newest head tells whether it is what was signed.

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
