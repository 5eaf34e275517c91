import type { invariants } from './invariants.ts';

/** A bug that another system had, as a change of one place of this one. */
export interface Mutant {
  /** In a few words: what the program does then. */
  readonly bug: string;
  /** Where it was seen: a system with its issue, or the class of bug that it is. */
  readonly seenIn: string;
  readonly file: string;
  /** What stands in the file, exactly once. */
  readonly from: string;
  readonly to: string;
  /** What no longer holds then. */
  readonly breaks: keyof typeof invariants;
  /** The fastest spec files that fail then. */
  readonly specs: readonly [string, ...string[]];
  /** A seed of the simulation that finds it, where one is known. */
  readonly seed?: number;
}

export interface NamedMutant extends Mutant {
  /** Its file's. */
  readonly name: string;
}
