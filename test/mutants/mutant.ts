import type { invariants } from './invariants.ts';

/** A bug that another system had, as a change of one place of this one. */
export interface Mutant {
  /** Behaviour with the bug, in a few words. */
  readonly bug: string;
  /** Origin: a system with its issue, or a class of bugs. */
  readonly seenIn: string;
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** The invariant that the bug breaks. */
  readonly breaks: keyof typeof invariants;
  /** The fastest spec files that fail with the bug. */
  readonly specs: readonly [string, ...string[]];
  /** A seed of the simulation that finds the bug. Default: none is known. */
  readonly seed?: number;
}

export interface NamedMutant extends Mutant {
  /** The name of its file. */
  readonly name: string;
}
