/** Results of many runs as a page. */
import { type Coverage, isCrash } from './coverage.ts';

export interface Totals {
  readonly from: number;
  readonly seeds: number;
  readonly payments: number;
  readonly steps: number;
  readonly simulated_ms: number;
  readonly faults: number;
  readonly failures: readonly { readonly seed: number; readonly invariant: string; readonly message: string }[];
  readonly took_ms: number;
  readonly processes: number;
  readonly coverage: Coverage;
}

const hour_ms = 3_600_000;
const whole = (count: number): string => Math.round(count).toLocaleString('en-US');

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const counted = (counts: Readonly<Record<string, number>>): readonly (readonly string[])[] =>
  Object.entries(counts)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, count]) => [`\`${name}\``, whole(count)]);

/** Returns the kind of a fault: `crash.before.pg.commit` is a `crash.before.pg`, `evm.node.lags` an `evm.node`. */
function kindOf(name: string): string {
  const parts = name.split('.');
  const isAt = name.startsWith('crash.at.');
  const hasThree = /^(crash|lost)\./.test(name);
  return parts.slice(0, hasThree && !isAt ? 3 : 2).join('.');
}

/** Returns a row for each kind: its places, how often they were reached in all, and the rarest place. */
function byKind(counts: Readonly<Record<string, number>>): readonly (readonly string[])[] {
  const groups = Map.groupBy(Object.entries(counts), ([name]) => kindOf(name));
  const sumOf = (places: readonly (readonly [string, number])[]) => places.reduce((sum, [, count]) => sum + count, 0);
  return [...groups]
    .sort(([a, m], [b, n]) => sumOf(n) - sumOf(m) || (a < b ? -1 : 1))
    .map(([kind, places]) => {
      const [name, count] = places.toSorted(([a, m], [b, n]) => m - n || (a < b ? -1 : 1))[0] ?? ['', 0];
      return [`\`${kind}\``, whole(places.length), whole(sumOf(places)), `\`${name}\`: ${whole(count)}`];
    });
}

export function summaryOf(totals: Totals, eventTypes: readonly string[]): string {
  const { coverage, took_ms } = totals;
  const crashes = Object.fromEntries(Object.entries(coverage.faults).filter(([name]) => isCrash(name)));
  const others = Object.fromEntries(Object.entries(coverage.faults).filter(([name]) => !isCrash(name)));
  const unseen = eventTypes.filter((type) => !(type in coverage.events));
  const pairs = Object.keys(coverage.pairs).length;
  const kinds = Object.keys(coverage.faults).sort();
  const last = totals.from + totals.seeds - 1;
  return `# Results of the simulation

For auditors and contributors: the result of the last large run, by kind of crash, fault, event and alarm. How the simulation works:
[simulation.md](simulation.md). Written by \`npm run simulate -- --seeds ${totals.seeds} --from ${totals.from} --summary\`.

${table(
  ['measure', 'value'],
  [
    ['seeds', `${whole(totals.seeds)} (${totals.from} to ${last})`],
    [
      'failed',
      totals.failures.length === 0
        ? 'none'
        : totals.failures.map(({ seed, invariant }) => `${seed} (${invariant})`).join(', '),
    ],
    ['payments', whole(totals.payments)],
    ['faults', whole(totals.faults)],
    ['steps', whole(totals.steps)],
    ['simulated time', `${whole(totals.simulated_ms / hour_ms)} hours`],
    ['real time', `${whole(took_ms / 60_000)} minutes in ${totals.processes} processes`],
    [
      'speed',
      `${whole((totals.steps / took_ms) * 1_000)} steps/s, ${((totals.payments / took_ms) * 1_000).toFixed(1)} payments/s`,
    ],
    ['places of crashes', whole(Object.keys(crashes).length)],
    ['kinds of other faults', whole(Object.keys(others).length)],
    ['pairs of kinds of faults in one run', `${whole(pairs)} of ${whole((kinds.length * (kinds.length - 1)) / 2)}`],
    ['types of events', `${Object.keys(coverage.events).length} of ${eventTypes.length}`],
  ],
)}

## Crashes

A place is a call before or after which the process ended, or a point that the service names.

${table(['kind', 'places', 'crashes', 'rarest place'], byKind(crashes))}

## Other faults

${table(['kind', 'places', 'times', 'rarest'], byKind(others))}

## Events

${table(['type', 'written'], counted(coverage.events))}

No world of this run wrote these types: ${unseen.map((type) => `\`${type}\``).join(', ') || 'none'}.

## Alarms

${table(['reason', 'times'], counted(coverage.alarms))}
`;
}
