/** Makes a failing run smaller while it fails in the same way: with fewer of its faults (delta debugging: Zeller 2002) and payments. */
import type { Outcome } from '../world/simulate.ts';

export interface Smaller {
  readonly only: ReadonlySet<string>;
  readonly payments: number;
}

const runsMost = 80;

/** @param again runs the seed with these faults alone. @returns the smallest run found that fails as the given one did */
export async function shrink(
  failed: Outcome,
  again: (smaller: Smaller) => Promise<Outcome>,
): Promise<Smaller & { readonly outcome: Outcome }> {
  let smallest = { only: new Set(failed.faults), payments: failed.payments, outcome: failed };
  let runs = 0;

  async function fails(faults: readonly string[], payments: number): Promise<boolean> {
    if (runs >= runsMost) return false;
    runs += 1;
    const only = new Set(faults);
    const outcome = await again({ only, payments });
    if (outcome.failure?.invariant !== failed.failure?.invariant) return false;
    // A fault that did not happen need not be excluded.
    smallest = { only: new Set(outcome.faults), payments, outcome };
    return true;
  }

  await fails([], smallest.payments);
  for (let parts = 2; smallest.only.size > 0 && runs < runsMost; ) {
    const faults = [...smallest.only];
    const size = Math.ceil(faults.length / parts);
    let isSmaller = false;
    for (let from = 0; from < faults.length && !isSmaller; from += size)
      isSmaller = await fails([...faults.slice(0, from), ...faults.slice(from + size)], smallest.payments);
    if (isSmaller) parts = Math.max(2, parts - 1);
    else if (size <= 1) break;
    else parts = Math.min(faults.length, parts * 2);
  }
  while (smallest.payments > 1 && (await fails([...smallest.only], smallest.payments - 1)));
  return smallest;
}
