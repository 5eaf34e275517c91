/** Chance that follows from a seed: sfc32 (Chris Doty-Humphrey, PractRand), which is small and passes its tests. */
import type { Random } from './ports.ts';

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
