/** Results of a trial as tables. */
import { tableOf } from '../world.ts';
import type { ShapeName } from './shapes.ts';
import { repeatsOf, secondsOf, type Trialled } from './trial.ts';

export function reportOf(found: readonly (readonly [ShapeName, Trialled])[]): string {
  const rows = found.flatMap(([shape, { rows }]) =>
    rows.map(({ what, created, payments, longestWait_ms, whole_ms, wrong, ...row }) => [
      shape,
      what,
      String(created),
      String(payments),
      repeatsOf(row) || 'none',
      secondsOf(longestWait_ms),
      secondsOf(whole_ms),
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
  return `${tableOf(head, rows)}\n\n${tableOf(['file', 'typed in a container', 'well'], typed)}`;
}

export const isWell = ({ rows, typed }: Trialled): boolean =>
  rows.every(({ wrong }) => wrong.length === 0) && typed.every(({ wrong }) => wrong === null);
