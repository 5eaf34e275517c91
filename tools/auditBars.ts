/** How far an audit is, on the terminal: a bar for each part, with its rate. */
import { MultiBar, Presets } from 'cli-progress';
import type { Progress } from './audit/run.ts';

export interface Bars {
  tell(progress: Progress): void;
  show(part: string, done: number | null, note: string): void;
  stop(): void;
}

export function openBars(quiet: boolean): Bars {
  const bars = new MultiBar(
    {
      format: '{part} [{bar}] {percentage}% | {note}',
      noTTYOutput: !quiet,
      notTTYSchedule: 5_000,
      stream: process.stderr,
      hideCursor: true,
    },
    Presets.shades_classic,
  );
  const shown = new Map<string, { readonly bar: ReturnType<MultiBar['create']>; readonly began_ms: number }>();
  const draw = (part: string, done: number | null, note: string, count: number): void => {
    if (quiet) return;
    const known = shown.get(part) ?? {
      bar: bars.create(1_000, 0, { part: part.padEnd(20), note: '' }),
      began_ms: performance.now(),
    };
    shown.set(part, known);
    const seconds = (performance.now() - known.began_ms) / 1_000;
    const rate = count > 0 && seconds > 0.2 ? `${count} | ${Math.round(count / seconds)}/s` : note;
    known.bar.update(Math.round((done ?? 0) * 1_000), { note: rate });
  };
  return {
    tell: ({ part, done, count }) => draw(part, done, '', count),
    show: (part, done, note) => draw(part, done, note, 0),
    stop: () => bars.stop(),
  };
}
