import { seededRandom } from '../weather/random.ts';

/** Choices that are the same for the same seed. */
export interface Dice {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  oneOf<T>(from: readonly T[]): T;
  /** Chooses a name by weight. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T;
}

export function createDice(seed: string): Dice {
  const next = seededRandom(seed);
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    oneOf<T>(from: readonly T[]): T {
      const chosen = from[between(0, from.length - 1)];
      if (chosen === undefined) throw new Error('there is nothing to choose from');
      return chosen;
    },
    weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
      const entries = Object.entries(weights) as [T, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      throw new Error('there is nothing to choose from');
    },
  };
}
