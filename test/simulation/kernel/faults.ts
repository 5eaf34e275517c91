/** Faults of a run: the seed decides them by place and pass, so some can be excluded again. */
import { hashOf, mixed } from '../../../sandbox/random.ts';
import type { Faults } from './ports.ts';

export interface FaultPlan {
  readonly fails: Faults;
  /** From here on nothing goes wrong. */
  stop(): void;
  /** Faults that happened, such as `crash.before.store.append#12`, in order. */
  readonly happened: readonly string[];
  /** Number of passes of each place where something could go wrong. */
  readonly passed: ReadonlyMap<string, number>;
}

/** The faults that happen, such as `crash.before.store.append#12`. */
export type ChosenFaults = Pick<ReadonlySet<string>, 'has'>;

/** @param only these faults and no others; null: random ones */
export function createFaults(seed: number, only: ChosenFaults | null): FaultPlan {
  const happened: string[] = [];
  const passed = new Map<string, number>();
  const hashes = new Map<string, number>();
  let stopped = false;

  function decides(name: string, nth: number, likelihood: number): boolean {
    if (only) return only.has(`${name}#${nth}`);
    const hash = hashes.get(name) ?? mixed(hashOf(name) ^ mixed(seed + 1));
    hashes.set(name, hash);
    return mixed(hash + Math.imul(nth + 1, 0x9e3779b1)) / 2 ** 32 < likelihood;
  }

  return {
    fails(name, likelihood) {
      const nth = passed.get(name) ?? 0;
      passed.set(name, nth + 1);
      if (stopped || !decides(name, nth, likelihood)) return false;
      happened.push(`${name}#${nth}`);
      return true;
    },
    stop() {
      stopped = true;
    },
    happened,
    passed,
  };
}
