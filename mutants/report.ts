/** docs/safety.md: the tables that are made of the invariants, the mutants and their last run. */
import { invariants } from './invariants.ts';
import type { NamedMutant } from './mutant.ts';
import type { Trial } from './trial.ts';

const head = ['bug', 'where it was seen', 'breaks', 'file', 'found by', 'seed'] as const;

export const invariantsTable = (): string =>
  tableOf(
    ['invariant', 'holds', 'how it is kept', 'where', 'checked by'],
    Object.entries(invariants).map(([name, { says, how, kept, command }]) => [
      `\`${name}\``,
      says,
      how,
      kept.map(linked).join(', '),
      `\`${command}\``,
    ]),
  );

/** What the mutants’ files say, row by row; the last run adds its test behind the spec's name. */
export const mutantCells = ({ name, bug, seenIn, breaks, file, specs, seed }: NamedMutant) => ({
  bug: `\`${name}\`: ${bug}`,
  seenIn,
  breaks: `\`${breaks}\``,
  file: linked(file),
  specs: specs.map(linked).join(', '),
  seed: `${seed ?? '–'}`,
});

function mutantsTable(trials: readonly Trial[]): string {
  const rows = trials.map(({ mutant, run }) => {
    const { bug, seenIn, breaks, file, specs, seed } = mutantCells(mutant);
    const title = run.ended === 'red' ? run.title : '';
    return [bug, seenIn, breaks, file, `${specs}: ${title}`, seed];
  });
  return tableOf(head, rows);
}

const linked = (file: string): string => `[${file}](../${file})`;

const tableOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [columns, columns.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`)
    .join('\n');

/** The document with the tables of this run. */
export function withTrials(document: string, trials: readonly Trial[]): string {
  const took_s = Math.round(
    trials.reduce((sum, { run, sound }) => sum + run.took_ms + (sound?.took_ms ?? 0), 0) / 1_000,
  );
  const total = `${trials.length} bugs, each found; ${took_s} seconds of specs in all.`;
  return between(between(document, 'invariants', invariantsTable()), 'mutants', `${mutantsTable(trials)}\n\n${total}`);
}

/** Replaces what stands between a document's marks. */
function between(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/safety.md has no place for ${name}: ${begin} … ${end}`);
  return `${document.slice(0, from + begin.length)}\n${text}\n${document.slice(to)}`;
}
