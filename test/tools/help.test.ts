/** `--help` of every command, in one process. `help.full.test.ts` runs each program as operators do. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Helped } from './helpOfAll.ts';
import { programs, root } from './programs.ts';

describe('--help of every command', () => {
  let helped: readonly Helped[];
  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'test/tools/helpOfAll.ts')], {
      cwd: root,
      maxBuffer: 10 ** 7,
    });
    helped = JSON.parse(stdout) as readonly Helped[];
  });

  it('says how the command is used', () => {
    for (const { name, words, said } of helped) {
      const command = [name, ...words].join(' ');
      assert.match(said, /^Usage: /, command);
      for (const word of words) assert.ok(said.split('\n')[0]?.includes(word), `${command}: ${said}`);
    }
  });

  it('is called of every program, and of commands within commands', () => {
    const files = new Set(programs.map(({ file }) => file));
    assert.equal(new Set(helped.map(({ name }) => name)).size, files.size);
    const called = helped.map(({ name, words }) => [name, ...words].join(' '));
    for (const command of ['sweep run', 'sweep recover', 'sweep deploy', 'treasury', 'merchant', 'audit payment'])
      assert.ok(called.includes(command), `${command} is none of ${called.join(', ')}`);
    assert.ok(helped.length > 60, `${helped.length} commands`);
  });

  it('lists each command of a program in the program’s own help', () => {
    for (const { name, words } of helped) {
      const [last] = words.slice(-1);
      const parent = helped.find((each) => each.name === name && each.words.join() === words.slice(0, -1).join());
      if (last !== undefined) assert.match(parent?.said ?? '', new RegExp(`^ {2}${last}\\b`, 'm'), `${name} ${words}`);
    }
  });
});
