/** The process id that a start program of a real node writes: an empty file is not yet the id 0, to which a signal would end the caller's own group. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPid } from '../../sandbox/realNodes/node.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe('the process id of a real node', () => {
  it('is awaited while its file is empty', async () => {
    const file = join(temporaryDirectory(), 'pid');
    writeFileSync(file, '');
    const reading = readPid(file);
    writeFileSync(file, '4711\n');
    assert.equal(await reading, 4711);
  });
});
