/** Keeps a maximum of findings of each kind, and counts all: thousands of one kind hide no other. */
import type { Finding } from './findings.ts';

export const findingsOfKindMax = 100;

export interface Collector {
  find(finding: Finding): void;
  /** The first findings of each kind, in the order of streams. */
  found(): readonly Finding[];
  count(): number;
  /** Number of findings of each kind. */
  kinds(): Readonly<{ [kind: string]: number }>;
}

/** @param kindOf default: the code */
export function createCollector(kindOf: (finding: Finding) => string = ({ code }) => code): Collector {
  const findings: Finding[] = [];
  const counts = new Map<string, number>();
  const byPlace = (a: Finding, b: Finding): number =>
    a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : (a.revision ?? -1) - (b.revision ?? -1);
  return {
    find(finding) {
      const kind = kindOf(finding);
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count <= findingsOfKindMax) findings.push(finding);
    },
    found: () => findings.toSorted(byPlace),
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    kinds: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** One of each kind before a second of any. */
export function mixed(findings: readonly Finding[]): readonly Finding[] {
  const byKind = [...Map.groupBy(findings, ({ code }) => code).values()];
  return Array.from({ length: findingsOfKindMax }, (_, at) => byKind.flatMap((same) => same[at] ?? [])).flat();
}
