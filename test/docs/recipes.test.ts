/** Applies the recipes of docs/contribute to a copy of the tree: a page that names a wrong file, or omits one, fails here. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { childEnvironment } from '../../src/process/system.ts';
import { runSpecs } from '../mutants/specs.ts';
import { copyTree, type Tree } from '../mutants/tree.ts';
import { specFiles } from '../runner/specFiles.ts';
import { isFull } from '../support/suite.ts';
import { applyStep, changedBy, type Recipe, readRecipe, readRecipes, StaleRecipe } from './recipe.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const recipes = readRecipes(root);
const specsOf = ({ steps }: Recipe): readonly string[] =>
  steps.flatMap((step) => (step.do === 'test' ? step.specs : []));

/** Runs a program of the copy to its end. @returns its output, with the exit code if it failed */
async function ran(folder: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: folder, env: childEnvironment(), maxBuffer: 16 * 1024 * 1024 };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    return stdout;
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    return `exit ${code}: ${stdout}${stderr}`;
  }
}

const typeErrors = (folder: string): Promise<string> =>
  ran(folder, join(folder, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '--singleThreaded');

async function withTree(work: (tree: Tree) => Promise<void>): Promise<void> {
  const tree = copyTree(root, { linked: false });
  try {
    await work(tree);
  } finally {
    tree.remove();
  }
}

/** @throws StaleRecipe if a file or a quoted line does not exist */
function apply(folder: string, followed: readonly Recipe[]): void {
  for (const { page, steps } of followed) for (const step of steps) applyStep(folder, page, step);
}

/** Applies the recipes to a copy. Its types must be correct, and the named specs must pass. */
const follow = (followed: readonly Recipe[]): Promise<void> =>
  withTree(async ({ folder }) => {
    apply(folder, followed);
    assert.equal(await ran(folder, 'docs/generate/write.ts'), '');
    assert.equal(await typeErrors(folder), '');
    const run = await runSpecs(folder, [...new Set(followed.flatMap(specsOf))]);
    assert.equal(run.ended, 'green', JSON.stringify(run));
  });

describe('the recipes of docs/contribute', () => {
  it('are for a chain, a token, an event, a webhook type and a column', () => {
    assert.deepEqual(
      recipes.map(({ page }) => page.replace('docs/contribute/', '')),
      ['add-a-chain.md', 'add-a-column.md', 'add-a-token.md', 'add-a-webhook-type.md', 'add-an-event.md'],
    );
  });

  it('name specs of the gate, or specs that they create', () => {
    const gate = new Set(specFiles({ full: false }));
    for (const recipe of recipes) {
      const created = recipe.steps.flatMap((step) =>
        step.do === 'change' && step.change.isNew ? step.change.file : [],
      );
      assert.ok(specsOf(recipe).length > 0, recipe.page);
      for (const spec of specsOf(recipe))
        assert.ok(gate.has(spec) || created.includes(spec), `${recipe.page}: ${spec}`);
      for (const file of created) assert.ok(!existsSync(join(root, file)), file);
    }
  });

  it('fit the tree, each line that they quote, when they are applied together', () =>
    withTree(async ({ folder }) => apply(folder, recipes)));

  // Types and specs of the copies cost half a minute of a processor: `npm run test:full` runs them.
  if (isFull) {
    it('applied together have right types, and the specs that they name pass', () => follow(recipes));

    for (const recipe of recipes)
      it(`applied alone has right types, and the specs that it names pass: ${recipe.page}`, () => follow([recipe]));

    it('do not work for a token that is not a US dollar: neither its types nor the start', () =>
      withTree(async ({ folder }) => {
        const token = recipes.find(({ page }) => page.endsWith('add-a-token.md')) ?? assert.fail();
        for (const step of token.steps) {
          if (step.do !== 'change') continue;
          const to = step.change.to.replaceAll("PYUSD: 'usd'", "PYUSD: 'eur'");
          applyStep(folder, token.page, { ...step, change: { ...step.change, to } });
        }
        assert.match(await typeErrors(folder), /domain\/payment\/create\.ts.*\n[\s\S]*PYUSD/);
        assert.match(await ran(folder, 'src/main.ts'), /exit 1: [\s\S]*PYUSD on Ethereum is pegged to eur/);
      }));
  }
});

describe('a recipe that is wrong', () => {
  const page = 'docs/contribute/add-nothing.md';
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'payment-intents-recipe-'));
    mkdirSync(join(folder, 'domain'));
    copyFileSync(join(root, 'domain/money.ts'), join(folder, 'domain/money.ts'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const apply = (body: string) => () => {
    for (const step of readRecipe(page, body).steps) applyStep(folder, page, step);
  };
  const diff = (...lines: readonly string[]) => ['```diff', ...lines, '```', ''].join('\n');

  it('fails if it names a file that does not exist, or creates one that does', () => {
    const wrong = diff('@@ domain/coins.ts @@', "-  137: 'POL',", "+  137: 'POL2',");
    assert.throws(apply(wrong), new StaleRecipe(page, 'there is no domain/coins.ts'));
    assert.throws(apply(diff('@@ new domain/money.ts @@', '+a')), /domain\/money\.ts exists already/);
    assert.throws(apply('```sh\ncp test/none.json test/some.json\n```\n'), /there is no test\/none\.json/);
  });

  it('fails if the text that it replaces is not in the file, or is there twice', () => {
    const change = { file: 'some.ts', isNew: false, from: 'a\n', to: 'b\n' };
    assert.equal(changedBy(page, change, 'c\na\n'), 'c\nb\n');
    assert.throws(() => changedBy(page, change, 'c\n'), /is 0 times in some\.ts/);
    assert.throws(() => changedBy(page, change, 'a\na\n'), /is 2 times in some\.ts/);
    assert.throws(() => changedBy(page, change, 'ca\n'), /is 0 times/, 'a part of a line');
    assert.equal(changedBy(page, change, 'c\nb\n'), 'c\nb\n', 'as another recipe has left it');
  });

  it('fails if a block has no file, no place, or an unknown command', () => {
    assert.throws(() => readRecipe(page, diff('+a')), /without @@ path @@/);
    assert.throws(() => readRecipe(page, diff('@@ domain/money.ts @@', '+a')), /no context/);
    assert.throws(() => readRecipe(page, diff('@@ domain/money.ts @@', ' a')), /changes nothing/);
    assert.throws(() => readRecipe(page, '```sh\nrm -r domain\n```\n'), /cannot run "rm -r domain"/);
  });
});
