/** One readable output: a line for each piece of work at its end, with its failures; each failure in full at the end, then the totals. */
import { styleText } from 'node:util';
import type { Outcome } from './messages.ts';
import { readAllSeconds } from './processorTime.ts';
import { realNodes, realStore } from './required.ts';
import type { Work } from './shards.ts';

export interface Report {
  add(work: Work): void;
  /** Reports a failure outside of the tests. */
  fail(name: string, failure: string): void;
  /** Prints the failures, the time of the run and `N passed, N failed`. @returns the exit code */
  close(): 0 | 1;
}

const count = (outcomes: readonly Outcome[], state: Outcome['state']): number =>
  outcomes.filter((outcome) => outcome.state === state).length;

const indented = (text: string, by: string): string => text.trimEnd().replaceAll(/^/gm, by);

/** @param expected number of pieces of work */
export function createReport(expected: number, print: (line: string) => void): Report {
  const done: Work[] = [];
  const began_ms = performance.now();

  function add(work: Work): void {
    done.push(work);
    const failed = count(work.outcomes, 'failed') > 0;
    const mark = failed ? styleText('red', '✖') : styleText('green', '✔');
    const at = `${done.length}/${expected}`.padStart(7);
    print(`${mark} ${at}  ${work.name}  ${totals(work.outcomes)}  ${cost(work.took_ms, work.processor_s)}`);
    for (const { state, title } of work.outcomes) if (state === 'failed') print(`           ✖ ${title}`);
    if (work.printed.trim() !== '') print(indented(work.printed, '           │ '));
  }

  function close(): 0 | 1 {
    const all = done.flatMap(({ name, outcomes }) => outcomes.map((outcome) => ({ ...outcome, name })));
    const failures = all.filter(({ state }) => state === 'failed');
    for (const { name, title } of all.filter(({ state }) => state === 'skipped')) print(`skipped: ${name}: ${title}`);
    failures.forEach(({ name, title, failure = '' }, index) => {
      print(`\n${index + 1}) ${styleText('red', `${name}: ${title}`)}\n\n${indented(failure, '   ')}`);
    });
    print(`\n${cost(performance.now() - began_ms, readAllSeconds())}`);
    for (const { name: server, isNeededBy } of [realStore, realNodes]) {
      const files = done.filter(({ name }) => isNeededBy(name));
      const used_s = files.reduce((sum, { processor_s = 0 }) => sum + processor_s, 0);
      if (used_s >= 1) print(`${used_s.toFixed(1)} s processor of that on ${server}`);
    }
    print(`\n${totals(all)}`);
    return failures.length > 0 ? 1 : 0;
  }

  return {
    add,
    fail: (name, failure) => {
      const title = failure.split('\n', 1)[0] ?? '';
      done.push({ name, outcomes: [{ state: 'failed', title, failure }], printed: '', took_ms: 0 });
    },
    close,
  };
}

function cost(took_ms: number, processor_s: number | undefined): string {
  const wall = `${(took_ms / 1_000).toFixed(1)} s`;
  return processor_s === undefined ? wall : `${wall}, ${processor_s.toFixed(1)} s processor`;
}

function totals(outcomes: readonly Outcome[]): string {
  const skipped = count(outcomes, 'skipped');
  const text = `${count(outcomes, 'passed')} passed, ${count(outcomes, 'failed')} failed`;
  return skipped > 0 ? `${text}, ${skipped} skipped` : text;
}
