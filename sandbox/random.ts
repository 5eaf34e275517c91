/**
 * Chance that follows from a seed: sfc32 (Chris Doty-Humphrey, PractRand), which is small and passes its tests. Trials, the weather and the
 * simulation draw from it. Another sequence for the same seed changes every recorded run of the simulation.
 */

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to `end`, without it. */
  below(end: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  bytes(count: number): Uint8Array;
  /** Another source, whose course does not depend on how much is drawn from this one. */
  fork(name: string): Random;
}

/** FNV-1a, 32 bits. */
export function hashOf(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** Mixes a number so that neighbours have nothing in common (the finalizer of MurmurHash3). */
export function mixed(number: number): number {
  let hash = number | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export function randomOf(seed: string): Random {
  let [a, b, c, d] = ['a', 'b', 'c', 'd'].map((part) => mixed(hashOf(`${part}:${seed}`))) as [
    number,
    number,
    number,
    number,
  ];

  function bits(): number {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  }
  for (let warmUp = 0; warmUp < 12; warmUp += 1) bits();

  const random: Random = {
    next: () => bits() / 2 ** 32,
    below: (end) => Math.floor((bits() / 2 ** 32) * end),
    pick: (from) => from[random.below(from.length)] ?? from[0],
    bytes: (count) => Uint8Array.from({ length: count }, () => bits() & 0xff),
    fork: (name) => randomOf(`${seed}/${name}`),
  };
  return random;
}

/** Draws a whole number, both ends included. */
export const between = (random: Random, least: number, most: number): number => least + random.below(most - least + 1);

/** @throws Error for an empty list */
export function pickFrom<T>(random: Random, from: readonly T[]): T {
  const [first, ...others] = from;
  if (first === undefined) throw new Error('there is nothing to choose from');
  return random.pick([first, ...others]);
}

/** Draws a name by weight. */
export function weighted<Name extends string>(random: Random, weights: Readonly<Record<Name, number>>): Name {
  const entries = Object.entries(weights) as [Name, number][];
  let left = random.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  throw new Error('there is nothing to choose from');
}
