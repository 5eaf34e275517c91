/**
 * The tree down to a fixed depth, in memory: 4 MB however many streams there are. What is below each of its ends, a bucket, is looked up when
 * one of the bucket's streams moves; of a million streams that is about fifteen leaves.
 */
import type { Way } from './proof.ts';
import { bitOf, empty, join, type Part } from './tree.ts';

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

const hash_bytes = 32;
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
