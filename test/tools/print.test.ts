/** Texts of strangers appear in the operator's terminal only as text. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ConfigError } from '../../src/config.ts';
import { printable, printableJson } from '../../src/lib/printable.ts';
import { print, printError, printJson, printTable } from '../../tools/print.ts';
import { runProgram } from '../../tools/program.ts';
import { hostile, steering } from '../support/hostileText.ts';

/** Letters, and characters that a terminal or a reader may treat specially. */
const anybodys = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b',
      '\u009b',
      '\r',
      '\n',
      '\u2028',
      '\u202e',
      '\u200b',
      '\u{e0041}',
      '\ud800',
      '\\',
      '\\u{',
      'u',
      '{',
      '}',
      'a',
      '→',
      '…',
      '’',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});

describe('output of the operator’s tools', () => {
  it('contains nothing of any text that controls a terminal, and no two texts look the same', () => {
    const read = (shown: string) =>
      shown.replaceAll(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
    fc.assert(
      fc.property(anybodys, (text) => {
        const shown = printable(text);
        assert.ok(!steering.test(shown) && !shown.includes('\n'), JSON.stringify(shown));
        assert.equal(read(shown), text);
      }),
    );
    assert.equal(printable('Café “3 × 5” — 価格 → 12.50 … ✔ №'), 'Café “3 × 5” — 価格 → 12.50 … ✔ №');
    assert.equal(printable('\u001b[2J'), '\\u{1b}[2J');
  });

  it('contains the same JSON for programs as before', () => {
    fc.assert(
      fc.property(fc.dictionary(anybodys, fc.oneof(anybodys, fc.array(anybodys))), (value) => {
        for (const space of [undefined, 2]) {
          const shown = printableJson(JSON.stringify(value, null, space));
          assert.ok(!steering.test(shown), shown);
          assert.deepEqual(JSON.parse(shown), JSON.parse(JSON.stringify(value)));
        }
      }),
    );
  });

  describe('contains only its own lines', () => {
    const said = { log: '', error: '' };
    const { log, error, table } = console;
    const codeBefore = process.exitCode;

    beforeEach(() => {
      Object.assign(said, { log: '', error: '' });
      console.log = (text: string) => {
        said.log += `${text}\n`;
      };
      console.error = (text: string) => {
        said.error += `${text}\n`;
      };
    });

    afterEach(() => {
      Object.assign(console, { log, error, table });
      process.exitCode = codeBefore;
    });

    it('lines, errors, JSON, and keys and cells of a table', () => {
      print(hostile, [{ style: 'bold', text: hostile }, hostile]);
      printError(hostile);
      assert.equal(said.log.split('\n').length, 3);
      assert.equal(said.error.split('\n').length, 2);
      printJson({ [hostile]: hostile, units: 10n });
      assert.equal(JSON.parse(said.log.slice(said.log.indexOf('{\n')))[hostile], hostile);
      said.log = said.log.replaceAll('\u001b[1m', '').replaceAll('\u001b[22m', '');
      printTable({ [hostile]: { [hostile]: hostile, list: [hostile], amount: 3 } });
      printTable([{ memo: hostile }, { memo: 'none' }]);
      const lines = said.log.split('\n');
      assert.equal(lines.filter((line) => line.startsWith('│')).length, 2 + 3);
      assert.ok(!steering.test(said.log + said.error), JSON.stringify(said));
    });

    it('ends with a tool’s last words: a node’s answer is one line, the problems of a configuration are several', async () => {
      await runProgram(() => Promise.reject(new Error(`node 1 refused: ${hostile}`)));
      assert.match(said.error, /^node 1 refused: pay \\u\{1b\}\[2J.*\n$/);
      said.error = '';
      await runProgram(() => Promise.reject(new ConfigError([`MODE=${hostile} is none`, 'DATABASE_URL is missing'])));
      assert.equal(said.error.split('\n').length, 5);
      await runProgram(() => Promise.reject(hostile));
      assert.equal(said.error.split('\n').length, 6);
      assert.ok(!steering.test(said.error), JSON.stringify(said.error));
    });
  });
});
