import assert from 'node:assert/strict';
import { closeSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openLog } from '../../sandbox/logFile.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('the log of a local program', () => {
  let file: string;
  beforeEach(() => {
    file = join(temporaryDirectory(), 'chain.log');
  });

  function say(text: string): void {
    const log = openLog(file);
    writeSync(log, text);
    closeSync(log);
  }

  it('is continued at the next start', () => {
    say('one\n');
    say('two\n');
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\n');
    assert.ok(!existsSync(`${file}.old`));
  });

  it('is rotated once it is large; the previous one is kept, older ones are not', () => {
    writeFileSync(`${file}.old`, 'ancient\n');
    say('one\n');
    truncateSync(file, 5 * 2 ** 20);
    say('two\n');
    assert.equal(readFileSync(file, 'utf8'), 'two\n');
    assert.equal(statSync(`${file}.old`).size, 5 * 2 ** 20);
  });
});
