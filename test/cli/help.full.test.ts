import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** Scripts of package.json that are programs with options: `npm run <name> -- --help`. */
const programs = Object.entries(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts,
).flatMap(([name, script]) => {
  const [, options, file] = /^node ((?:--\S+ )*)(\S+\.ts)$/.exec(script) ?? [];
  if (file === undefined || !readFileSync(join(root, file), 'utf8').includes("from 'commander'")) return [];
  return [{ name, call: [...(options ?? '').split(' ').filter(Boolean), file] }];
});

/** Commands that a help text lists, without `help` itself. */
function commandsIn(help: string): readonly string[] {
  const [, listed = ''] = /^Commands:\n((?: {2}.*\n?)+)/m.exec(help) ?? [];
  return [...listed.matchAll(/^ {2}([a-z][\w:-]*)/gm)]
    .map(([, name]) => String(name))
    .filter((name) => name !== 'help');
}

describe('every command’s --help', () => {
  it('finds the programs', () => {
    for (const name of ['audit', 'sweep', 'treasury', 'merchant', 'trigger', 'mutants'])
      assert.ok(
        programs.some((program) => program.name === name),
        name,
      );
  });

  for (const { name, call } of programs) {
    it(`of npm run ${name}`, async () => {
      const helpOf = async (...words: readonly string[]): Promise<void> => {
        const { stdout } = await run(process.execPath, [...call, ...words, '--help'], { cwd: root });
        assert.match(stdout, /^Usage: /, words.join(' '));
        for (const command of commandsIn(stdout)) await helpOf(...words, command);
      };
      await helpOf();
    });
  }
});
