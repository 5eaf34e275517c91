/** Checks that every known bug can be applied, and that docs/contribute/known-bugs.md names its specs. `npm run mutants` checks that these specs fail. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { specFiles } from '../runner/specFiles.ts';
import { changed } from './change.ts';
import { invariants } from './invariants.ts';
import { knownMutants } from './known.ts';
import type { NamedMutant } from './mutant.ts';
import { invariantsTable, mutantCells, withTrials } from './report.ts';
import { isCaught, type Trial } from './trial.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');

describe('mutants', () => {
  let mutants: readonly NamedMutant[] = [];
  before(async () => {
    mutants = await knownMutants();
  });

  it('are twenty at least, and each invariant has one', () => {
    assert.ok(mutants.length >= 20);
    const broken = new Set(mutants.map(({ breaks }) => breaks));
    assert.deepEqual(
      Object.keys(invariants).filter((name) => !broken.has(name as keyof typeof invariants)),
      [],
    );
  });

  it('fit the code: the text that each replaces is in its file exactly once', () => {
    for (const mutant of mutants) assert.notEqual(changed(mutant, read(mutant.file)), read(mutant.file), mutant.name);
  });

  it('name existing specs', () => {
    for (const { name, specs } of mutants)
      for (const spec of specs) assert.ok(existsSync(`${root}${spec}`), `${name}: ${spec}`);
  });

  it('are caught by the gate: the specs that are named for them are all in it', () => {
    const gate = new Set(specFiles({ full: false }));
    for (const { name, specs } of mutants) for (const spec of specs) assert.ok(gate.has(spec), `${name}: ${spec}`);
  });

  it('are stale if they fit no more, or in two places', () => {
    const bug = { name: 'some', file: 'some.ts', from: 'a', to: 'b' };
    assert.throws(() => changed(bug, 'c'), /mutant some is stale: what it replaces stands 0 times in some.ts/);
    assert.throws(() => changed(bug, 'aa'), /stands 2 times/);
    assert.equal(changed(bug, 'cac'), 'cbc');
  });

  it('are caught by specs that fail with them and not without', () => {
    const [mutant] = mutants;
    assert.ok(mutant);
    const red = { ended: 'red', title: 'a test', took_ms: 1 } as const;
    const green = { ended: 'green', passes: 1, took_ms: 1 } as const;
    const broken = { ended: 'broken', said: 'no such file', took_ms: 1 } as const;
    assert.equal(isCaught({ mutant, run: red, sound: green }), true);
    assert.equal(isCaught({ mutant, run: red, sound: green, simulated: 'oneWebhook' }), true);
    for (const trial of [
      { run: green, sound: green },
      { run: broken, sound: green },
      { run: red, sound: red },
      { run: red, sound: broken },
      { run: red, sound: green, simulated: null },
    ])
      assert.equal(isCaught({ mutant, ...trial }), false);
  });
});

describe('docs/explain/safety.md', () => {
  it('lists the invariants, and existing files', () => {
    assert.ok(read('docs/explain/safety.md').includes(invariantsTable()), 'run npm run mutants -- --write');
    for (const { kept } of Object.values(invariants)) {
      for (const file of kept) assert.ok(existsSync(`${root}${file}`), file);
    }
  });
});

describe('docs/contribute/known-bugs.md', () => {
  const document = read('docs/contribute/known-bugs.md');

  it('states of each mutant the content of its file, and the test that has found it', async () => {
    const rows = document.split('\n').filter((line) => /^\| `[A-Za-z]+`: /.test(line));
    const mutants = await knownMutants();
    assert.equal(rows.length, mutants.length, 'run npm run mutants -- --write');
    for (const [at, mutant] of mutants.entries()) {
      const { bug, seenIn, breaks, file, specs, seed } = mutantCells(mutant);
      const row = rows[at] ?? '';
      assert.ok(row.startsWith(`| ${bug} | ${seenIn} | ${breaks} | ${file} | ${specs}: `), `${mutant.name}: ${row}`);
      assert.ok(row.endsWith(` | ${seed} |`) && !row.endsWith(`${specs}:  | ${seed} |`), mutant.name);
    }
  });

  it('is written again by a run', async () => {
    const trials: Trial[] = (await knownMutants()).map((mutant) => ({
      mutant,
      run: { ended: 'red', title: 'a | test', took_ms: 500 },
    }));
    const written = withTrials(document, trials);
    assert.match(written, /a \\\| test/);
    assert.equal(withTrials(written, trials), written);
  });
});
