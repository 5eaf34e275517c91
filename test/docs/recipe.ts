/**
 * Reads the recipes of docs/contribute and applies them to a copy of the tree. A block in `diff` names its file in a line
 * `@@ path/of/file @@`: lines with `-` are replaced by lines with `+`, others are context. `@@ new path/of/file @@` creates a file. A
 * block in `sh` has commands: `cp` and `npm run docs` are run in the copy, `npx mocha` names the specs that must pass.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Change {
  readonly file: string;
  readonly isNew: boolean;
  readonly from: string;
  readonly to: string;
}

export type Step =
  | { readonly do: 'change'; readonly change: Change }
  | { readonly do: 'copy'; readonly from: string; readonly to: string }
  | { readonly do: 'generate' }
  | { readonly do: 'test'; readonly specs: readonly string[] };

export interface Recipe {
  readonly page: string;
  readonly steps: readonly Step[];
}

/** A page and the tree differ: the page must be fixed. */
export class StaleRecipe extends Error {
  override readonly name = 'StaleRecipe';
  constructor(page: string, problem: string) {
    super(`${page}: ${problem}; fix the page or the code that it describes`);
  }
}

export const folderOfRecipes = 'docs/contribute';

/** Reads all pages docs/contribute/add-*.md. */
export const readRecipes = (root: string): readonly Recipe[] =>
  readdirSync(join(root, folderOfRecipes))
    .filter((file) => /^add-.*\.md$/.test(file))
    .toSorted()
    .map((file) => readRecipe(`${folderOfRecipes}/${file}`, readFileSync(join(root, folderOfRecipes, file), 'utf8')));

/** @throws StaleRecipe for a command or a block that cannot be applied */
export function readRecipe(page: string, text: string): Recipe {
  const blocks = text.matchAll(/^```(diff|sh)\n([\s\S]*?)^```$/gm);
  const steps = [...blocks].flatMap(([, language, body = '']) =>
    language === 'diff'
      ? changesIn(page, body).map((change): Step => ({ do: 'change', change }))
      : lines(body).flatMap((line) => stepOf(page, line)),
  );
  return { page, steps };
}

const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

function stepOf(page: string, line: string): readonly Step[] {
  const [command = '', ...rest] = (line.split('#')[0] ?? '').trim().split(/ +/);
  const [first = '', second = '', ...more] = rest;
  if (command === 'cp' && second !== '' && more.length === 0) return [{ do: 'copy', from: first, to: second }];
  if (command === 'npm' && rest.join(' ') === 'run docs') return [{ do: 'generate' }];
  if (command === 'npx' && first === 'mocha') return [{ do: 'test', specs: rest.slice(1) }];
  // The spec checks the types of every copy anyway.
  if (command === 'npm' && rest.join(' ') === 'run types') return [];
  throw new StaleRecipe(page, `the spec cannot run "${line}"`);
}

function changesIn(page: string, body: string): readonly Change[] {
  const parts = body.split(/^@@ (.+) @@$/m);
  if (parts[0]?.trim()) throw new StaleRecipe(page, `a block begins without @@ path @@: ${parts[0].slice(0, 60)}`);
  const changes: Change[] = [];
  for (let at = 1; at < parts.length; at += 2) {
    const header = parts[at] ?? '';
    const hunk = (parts[at + 1] ?? '').split('\n').slice(1, -1);
    const isNew = header.startsWith('new ');
    const kept = (but: string) => hunk.filter((line) => !line.startsWith(but)).map((line) => `${line.slice(1)}\n`);
    const change = { file: header.replace(/^new /, ''), isNew, from: kept('+').join(''), to: kept('-').join('') };
    if (change.from === change.to || (change.from === '') !== isNew)
      throw new StaleRecipe(
        page,
        `the block of ${change.file} has no context to find its place by, or changes nothing`,
      );
    changes.push(change);
  }
  return changes;
}

/** Returns the file's text with the change. A change that another recipe has made already is kept. @throws StaleRecipe */
export function changedBy(page: string, { file, from, to }: Change, text: string): string {
  const places = placesOf(text, from);
  const [at = 0] = places;
  if (places.length === 1) return `${text.slice(0, at)}${to}${text.slice(at + from.length)}`;
  if (places.length === 0 && placesOf(text, to).length === 1) return text;
  throw new StaleRecipe(page, `what it replaces is ${places.length} times in ${file}, not once`);
}

/** Returns each place of the text where the lines begin. */
function placesOf(text: string, part: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (at === 0 || text[at - 1] === '\n') places.push(at);
  return places;
}

/** Makes a change or a copy in the folder. @throws StaleRecipe */
export function applyStep(folder: string, page: string, step: Step): void {
  if (step.do === 'copy') {
    if (!existsSync(join(folder, step.from))) throw new StaleRecipe(page, `there is no ${step.from}`);
    cpSync(join(folder, step.from), join(folder, step.to));
  }
  if (step.do !== 'change') return;
  const { change } = step;
  const file = join(folder, change.file);
  if (existsSync(file) === change.isNew)
    throw new StaleRecipe(page, change.isNew ? `${change.file} exists already` : `there is no ${change.file}`);
  const text = change.isNew ? change.to : changedBy(page, change, readFileSync(file, 'utf8'));
  mkdirSync(dirname(file), { recursive: true });
  // The copy's files are hard links to the tree's own: removes the link first.
  rmSync(file, { force: true });
  writeFileSync(file, text);
}
