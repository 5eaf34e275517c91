/** Results of a check as tables. */
import type { ShapeName } from './shapes.ts';
import type { Trialled } from './trial.ts';

export function reportOf(found: readonly (readonly [ShapeName, Trialled])[]): string {
  const rows = found.flatMap(([shape, { rows }]) =>
    rows.map(({ what, created, payments, repeated, longestWait_ms, whole_ms, wrong }) => [
      shape,
      what,
      String(created),
      String(payments),
      [...repeated].map(([why, count]) => `${count} (${why})`).join(', ') || 'none',
      seconds(longestWait_ms),
      seconds(whole_ms),
      wrong.length === 0 ? 'yes' : wrong.slice(0, 5).join('; '),
    ]),
  );
  const typed = found.flatMap(([shape, each]) =>
    each.typed.map(({ command, wrong }) => [
      shape,
      `\`${command}\``,
      wrong === null ? 'yes' : (wrong.split('\n')[0] ?? ''),
    ]),
  );
  const head = [
    'file',
    'what happened',
    'created',
    'of them paid',
    'requests repeated',
    'longest wait',
    'until all was well',
    'well',
  ];
  return `${table(head, rows)}\n\n${table(['file', 'typed in a container', 'well'], typed)}`;
}

export const isWell = ({ rows, typed }: Trialled): boolean =>
  rows.every(({ wrong }) => wrong.length === 0) && typed.every(({ wrong }) => wrong === null);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
