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

const pairsShown = 12;
const hour_ms = 3_600_000;
const whole = (count: number): string => Math.round(count).toLocaleString('en-US');

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const counted = (counts: Readonly<Record<string, number>>): readonly (readonly string[])[] =>
  Object.entries(counts)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([name, count]) => [`\`${name}\``, whole(count)]);

export function summaryOf(totals: Totals, eventTypes: readonly string[]): string {
  const { coverage, took_ms } = totals;
  const crashes = Object.fromEntries(Object.entries(coverage.faults).filter(([name]) => isCrash(name)));
  const others = Object.fromEntries(Object.entries(coverage.faults).filter(([name]) => !isCrash(name)));
  const unseen = eventTypes.filter((type) => !(type in coverage.events));
  const pairs = Object.keys(coverage.pairs).length;
  const kinds = Object.keys(coverage.faults).sort();
  const missed = kinds.flatMap((one, at) =>
    kinds
      .slice(at + 1)
      .flatMap((other) => (`${one} + ${other}` in coverage.pairs ? [] : [`\`${one}\` + \`${other}\``])),
  );
  const last = totals.from + totals.seeds - 1;
  return `# What the simulation has shown

Written by \`npm run simulate -- --seeds ${totals.seeds} --from ${totals.from} --summary\`. How it works: [simulation.md](simulation.md).

${table(
  ['', ''],
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

## Places of crashes

${table(['place', 'crashes'], counted(crashes))}

## Other faults

${table(['fault', 'times'], counted(others))}

## Pairs

Never in one run, of the kinds that there were: ${whole(missed.length)}${missed.length > 0 ? `, such as ${missed.slice(0, pairsShown).join(', ')}` : ''}.

## Events

${table(['type', 'written'], counted(coverage.events))}

Not written in any run: ${unseen.map((type) => `\`${type}\``).join(', ') || 'none'}.

## Alarms

${table(['reason', 'times'], counted(coverage.alarms))}
`;
}
