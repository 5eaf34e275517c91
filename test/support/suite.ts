/**
 * Two suites: the gate (`npm test`) and the full one (`npm run test:full`). A spec file is in both, unless its name ends with
 * `.full.test.ts`; a spec that tries many cases tries some of them in the gate and each of them in the full suite.
 */

/** True in a full run. A file that runs alone belongs to the gate unless SUITE=full is set. */
export const isFull = process.env['SUITE'] === 'full';

/** Returns all cases in a full run, and in the gate those that `inGate` accepts. */
export const gateCases = <T>(all: readonly T[], inGate: (one: T, index: number) => boolean): readonly T[] =>
  isFull ? all : all.filter(inGate);

/** Seconds between the blocks of the specs' chains. A run on a slow machine sets more (test/runner/pace.ts). */
export const blockTime_s = Number(process.env['BLOCK_TIME_S'] ?? 0.2);

/** Milliseconds between two polls of a spec: each costs the service work, for which a slow machine has less room. */
export const poll_ms = Math.round(blockTime_s * 500);
