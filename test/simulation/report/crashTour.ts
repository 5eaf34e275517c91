/** Worlds in which the service crashes once at each place: before and after each kind of call, and at each of its crash points. */
import type { ChosenFaults } from '../kernel/faults.ts';
import { isCrash } from './coverage.ts';

export interface CrashTour {
  /** Faults of the next world: a crash at the first passing of each place where no earlier world had one. */
  readonly faults: ChosenFaults;
  /** Adds what happened in a world. */
  add(faults: readonly string[]): void;
}

/** The next worlds depend on the worlds before them: replay one of them by its list of faults. */
export function createCrashTour(): CrashTour {
  const visited = new Set<string>();
  return {
    faults: { has: (fault) => isCrash(fault) && fault.endsWith('#0') && !visited.has(fault) },
    add(faults) {
      for (const fault of faults) visited.add(fault);
    },
  };
}
