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
