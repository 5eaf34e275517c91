import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programs, root } from '../../docs/generate/programs.ts';

const run = promisify(execFile);

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

  for (const { name, options, file } of programs) {
    it(`explains npm run ${name}`, async () => {
      const helpOf = async (...words: readonly string[]): Promise<void> => {
        const { stdout } = await run(process.execPath, [...options, file, ...words, '--help'], { cwd: root });
        assert.match(stdout, /^Usage: /, words.join(' '));
        for (const command of commandsIn(stdout)) await helpOf(...words, command);
      };
      await helpOf();
    });
  }
});
