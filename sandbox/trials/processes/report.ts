/** docs/explain/chaos.md: the summary of one run. */
import { cpus } from 'node:os';
import { chainOf } from '../../../domain/chains.ts';
import type { Ended } from '../customers.ts';
import { tableOf } from '../world.ts';
import type { FaultName } from './faults.ts';
import type { Deliveries } from './log.ts';

export interface Outcome {
  readonly seed: string;
  readonly ended: readonly Ended[];
  readonly faults: ReadonlyMap<FaultName, number>;
  readonly notDone: readonly string[];
  readonly disks: boolean;
  readonly starts: { readonly service: number; readonly eventStore: number };
  readonly posts: number;
  readonly deliveries: Deliveries;
  readonly refunds: number;
  readonly minutes: { readonly storm: number; readonly quiet: number };
  readonly findings: readonly string[];
  readonly audit: string;
}

const begin = '<!-- last run -->';
const end = '<!-- end of last run -->';

export function withRun(document: string, outcome: Outcome): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/explain/chaos.md has no place for the run: ${begin} … ${end}`);
  return `${document.slice(0, from + begin.length)}\n${summaryOf(outcome)}\n${document.slice(to)}`;
}

export function summaryOf(outcome: Outcome): string {
  const { seed, ended, faults, starts, posts, deliveries, refunds, minutes, findings, disks, notDone, audit } = outcome;
  const total = [...faults.values()].reduce((sum, count) => sum + count, 0);
  const routes = new Set(ended.map(({ order }) => `${order.from} ${order.to}`)).size;
  const chains = new Set(ended.flatMap(({ order }) => [order.from, order.to]));
  return [
    `Seed ${seed}, ${ended.length} payments on ${routes} routes over ${[...chains].map((id) => chainOf(id).name).join(', ')}; ` +
      `${total} faults in ${minutes.storm.toFixed(1)} minutes, then ${minutes.quiet.toFixed(1)} minutes of quiet; ` +
      `${cpus().length} processors, shared with other work. The service was started ${starts.service} times, the event store ${starts.eventStore} times.`,
    tableOf(
      ['fault', 'times'],
      [...faults].toSorted(([a], [b]) => a.localeCompare(b)).map(([name, count]) => [`\`${name}\``, String(count)]),
    ),
    tableOf(['payer', 'ended as', 'payments'], endsOf(ended)),
    `Webhooks: ${deliveries.begun} started, ${deliveries.delivered} delivered, ${deliveries.failed} without a valid answer in time, ${deliveries.unknown} with an unknown outcome because the service ended meanwhile. The receiver got ${posts} POSTs.`,
    `${refunds} payments had refunds.`,
    disks ? 'Filled disks: one tmpfs per store.' : 'No disk was filled: this user cannot mount one.',
    ...(notDone.length > 0 ? [`Faults that could not be caused or undone: ${notDone.join('; ')}.`] : []),
    `The result of \`npm run audit\`, by token:\n\n\`\`\`text\n${audit}\n\`\`\``,
    findings.length === 0 ? 'Findings: none.' : `Findings:\n\n${findings.map((each) => `- ${each}`).join('\n')}`,
  ].join('\n\n');
}

function endsOf(ended: readonly Ended[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(ended, ({ order, end: { status, errorCode } }) =>
    [order.habit, errorCode ? `${status}, ${errorCode}` : status].join('|'),
  );
  return [...groups]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([key, all]) => [...key.split('|'), String(all.length)]);
}
