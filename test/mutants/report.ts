/** The tables of docs/explain/safety.md and docs/contribute/known-bugs.md, computed from the invariants, the mutants and their last run. */
import { basename } from 'node:path';
import { invariants } from './invariants.ts';
import type { NamedMutant } from './mutant.ts';
import type { Trial } from './trial.ts';

const head = ['bug', 'seen in', 'breaks', 'file', 'found by', 'seed'] as const;

export const invariantsTable = (): string =>
  tableOf(
    ['name', 'promise', 'how the service keeps it', 'code', 'checked by'],
    Object.entries(invariants).map(([name, { says, how, kept, command }]) => [
      `\`${name}\``,
      says,
      how,
      kept.map(linked).join(', '),
      `\`${command}\``,
    ]),
  );

/** Cells of the mutants' rows, from their files. The last run adds the failed test to the spec's name. */
export const mutantCells = ({ name, bug, seenIn, breaks, file, specs, seed }: NamedMutant) => ({
  bug: `\`${name}\`: ${bug}`,
  seenIn,
  breaks: `\`${breaks}\``,
  file: linked(file),
  specs: specs.map(linked).join(', '),
  seed: `${seed ?? '–'}`,
});

function rowOf({ mutant, run }: Trial): readonly string[] {
  const { bug, seenIn, breaks, file, specs, seed } = mutantCells(mutant);
  const title = run.ended === 'red' ? run.title : '';
  return [bug, seenIn, breaks, file, `${specs}: ${title}`, seed];
}

const linked = (file: string): string => `[${basename(file)}](../../${file})`;

const lineOf = (row: readonly string[]): string =>
  `| ${row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;

const tableOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows].map(lineOf).join('\n');

/** Returns the document with the invariants' table. */
export const withInvariants = (document: string): string => between(document, 'invariants', invariantsTable());

/**
 * Returns the document with the table of this run.
 * @param mutants all of them, in order: untried ones keep their rows
 */
export function withTrials(
  document: string,
  trials: readonly Trial[],
  mutants: readonly NamedMutant[] = trials.map(({ mutant }) => mutant),
): string {
  const lines = document.split('\n');
  const rows = mutants.flatMap(({ name }) => {
    const trial = trials.find(({ mutant }) => mutant.name === name);
    return trial ? lineOf(rowOf(trial)) : (lines.find((line) => line.startsWith(`| \`${name}\`: `)) ?? []);
  });
  const table = [tableOf(head, []), ...rows, '', `${rows.length} bugs, each found.`].join('\n');
  return between(document, 'mutants', table);
}

/** Replaces the text between a document's marks. */
function between(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no place for ${name}: ${begin} … ${end}`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
}
