/** `--help` of every command, in one process. `help.full.test.ts` runs each program like an operator. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Helped } from '../../docs/generate/helpOfAll.ts';
import { programs, root } from '../../docs/generate/programs.ts';

describe('--help of every command', () => {
  let helped: readonly Helped[];
  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'docs/generate/helpOfAll.ts')], {
      cwd: root,
      maxBuffer: 10 ** 7,
    });
    helped = JSON.parse(stdout) as readonly Helped[];
  });

  it('states the usage of the command', () => {
    for (const { name, words, said } of helped) {
      const command = [name, ...words].join(' ');
      assert.match(said, /^Usage: /, command);
      for (const word of words) assert.ok(said.split('\n')[0]?.includes(word), `${command}: ${said}`);
    }
  });

  it('is called for every program, and for commands within commands', () => {
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

  it('begins each description with a capital letter and ends it with a full stop', () => {
    for (const { name, words, description, about } of helped) {
      const command = [name, ...words].join(' ');
      assert.match(description, /^[A-Z].*[.]$/s, command);
      assert.doesNotMatch(description, /[.]{2}/, command);
      for (const text of about) assert.match(text, /^[A-Z]|^[a-z]+(, [a-z]+| and [a-z]+)*: /, `${command}: ${text}`);
    }
  });

  it('has an example for each command, which the command accepts', () => {
    for (const { name, words, said, isGroup, flags, args } of helped) {
      const command = [name, ...words].join(' ');
      const [, line] = /^Example: (.*)$/m.exec(said) ?? [];
      if (line === undefined && isGroup) continue;
      assert.ok(line, `${command} has no example`);
      const [start = '', rest = ''] = line.split(/ -- (.*)/);
      if (rest) assert.equal(start, `npm run ${name}`, command);
      const parts = [...rest.matchAll(/"[^"]*"|\S+/g)].map(([part]) => part);
      assert.deepEqual(parts.splice(0, words.length), words, line);
      const known = new Map(flags.map((flag) => [flag.long, flag]));
      const given = parts.filter((part) => part.startsWith('--'));
      const values = given.filter((long) => (known.get(long) ?? assert.fail(`${line}: no ${long}`)).takesValue);
      for (const { long, isRequired } of flags)
        assert.ok(!isRequired || given.includes(long), `${line}: without ${long}`);
      const count = parts.length - given.length - values.length;
      assert.ok(count >= args.least && count <= args.most, `${line}: ${count} arguments`);
    }
  });
});
