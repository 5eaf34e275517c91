/** Coverage of runs: types of events, crash points, and pairs of faults in one run. */
import type { Outcome } from '../world/simulate.ts';

/** Counts by name; plain, so that they can be sent from process to process. */
export interface Coverage {
  readonly events: Record<string, number>;
  /** By kind of fault, without its number. */
  readonly faults: Record<string, number>;
  readonly alarms: Record<string, number>;
  /** `a + b`: both happened in one run. */
  readonly pairs: Record<string, number>;
}

export const noCoverage = (): Coverage => ({ events: {}, faults: {}, alarms: {}, pairs: {} });

const add = (to: Record<string, number>, name: string, count = 1): void => {
  to[name] = (to[name] ?? 0) + count;
};

export const kindOf = (fault: string): string => fault.replace(/#\d+$/, '');

export function cover(coverage: Coverage, { events, faults, alarms }: Outcome): void {
  for (const [type, count] of events) add(coverage.events, type, count);
  for (const [reason, count] of alarms) add(coverage.alarms, reason, count);
  for (const fault of faults) add(coverage.faults, kindOf(fault));
  const kinds = [...new Set(faults.map(kindOf))].sort();
  for (const [at, one] of kinds.entries())
    for (const other of kinds.slice(at + 1)) add(coverage.pairs, `${one} + ${other}`);
}

export function merge(into: Coverage, other: Coverage): void {
  for (const part of ['events', 'faults', 'alarms', 'pairs'] as const)
    for (const [name, count] of Object.entries(other[part])) add(into[part], name, count);
}

export const isCrash = (fault: string): boolean => fault.startsWith('crash.');
