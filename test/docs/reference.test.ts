/** Generated pages of docs/reference against their source code. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { cliDocument, helpOfAllCommands } from '../../docs/generate/cli.ts';
import {
  configurationDocument,
  sectionsOf,
  settingsRead,
  variablesOfCommands,
} from '../../docs/generate/configuration.ts';
import { metricsDocument, ownMetrics } from '../../docs/generate/metrics.ts';
import { secretNames } from '../../src/environment/reader.ts';

const root = new URL('../../', import.meta.url);
const text = (file: string) => readFileSync(new URL(file, root), 'utf8');
const stale = 'stale: run `npm run docs` and commit it';

const sourcesUnder = (folder: string, recursive = true): readonly string[] =>
  readdirSync(new URL(folder, root), { encoding: 'utf8', recursive })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);

describe('docs/reference/configuration.md', () => {
  const page = text('docs/reference/configuration.md');
  const named = new Set([...page.matchAll(/^\| `([A-Z][\w<>]*)` \|/gm)].map(([, name]) => name as string));

  it('is what the code and .env.example state today', () => {
    assert.equal(page, `${configurationDocument()}\n`, stale);
  });

  it('has every variable that the service reads', () => {
    const perChain = (name: string) => name.replace(/_\d+(?=$|_FILE$)/, '_<chainId>');
    const read = [...settingsRead().keys()].map(perChain);
    assert.ok(read.length > 100);
    assert.deepEqual(
      read.filter((name) => !named.has(name)),
      [],
    );
  });

  it('has every variable that a command, the sandbox or a secret reads', () => {
    const files = [...sourcesUnder('src'), ...sourcesUnder('tools'), ...sourcesUnder('sandbox', false)];
    const read = files.flatMap((file) =>
      [...text(file).matchAll(/process\.env\['([A-Z][A-Z0-9_]*)'\]/g)].map(([, name]) => name as string),
    );
    assert.ok(read.includes('SUDO_USER'));
    assert.deepEqual(
      [...new Set([...read, ...secretNames])].filter((name) => !named.has(name)),
      [],
    );
  });

  it('names no variable of commands that no code reads', () => {
    const all = [...sourcesUnder('src'), ...sourcesUnder('tools'), ...sourcesUnder('sandbox', false)]
      .map(text)
      .join('\n');
    for (const [name] of variablesOfCommands) assert.ok(all.includes(`'${name}'`), name);
  });

  it('has a range or a default for every number', () => {
    for (const [name, { default: usual, values }] of settingsRead())
      if (/^[\d,]+ to [\d,]+$/.test(values)) assert.ok(usual !== '' || /_\d+$/.test(name), name);
  });

  it('reads comments and variables of .env.example by section', () => {
    const [first, ...others] = sectionsOf(
      '# ── One ──\n\n# Text.\n# A=1\n# B=\n# More.\n# C=2\n\n# Note.\n\n# ── Two ──\n\n# D.\nD=\n',
    );
    assert.deepEqual(
      first?.groups.map(({ text: said, names }) => [said, names]),
      [
        ['Text.', ['A', 'B']],
        ['More.', ['C']],
        ['Note.', []],
      ],
    );
    assert.deepEqual(
      [...(first?.groups[0]?.examples ?? [])],
      [
        ['A', '1'],
        ['B', ''],
      ],
    );
    assert.equal(others.length, 1);
  });
});

describe('docs/reference/metrics.md', () => {
  it('is what the registry states today, with a meaning for every metric', () => {
    assert.equal(text('docs/reference/metrics.md'), `${metricsDocument()}\n`, stale);
    assert.ok(ownMetrics().length > 20);
    for (const { name, help } of ownMetrics()) assert.match(help, /^[A-Z1].{15}/, name);
  });
});

describe('docs/reference/cli.md', () => {
  it('is the present --help of every command', async () => {
    assert.equal(text('docs/reference/cli.md'), `${cliDocument(await helpOfAllCommands())}\n`, stale);
  });
});
