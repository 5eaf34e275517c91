import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { readConnections, writeConnections } from '../../src/lib/connections.ts';
import { writeWhole } from '../../src/lib/writeWhole.ts';

describe('a file that is replaced in one step', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'write-whole-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('holds the whole content of one writer while four threads replace it', async () => {
    const file = join(folder, 'shared.json');
    const source = `
      const { workerData } = require('node:worker_threads');
      import(workerData.module).then(({ writeWhole }) => {
        for (let round = 0; round < 300; round += 1) writeWhole(workerData.file, workerData.letter.repeat(50_000));
      });`;
    const module = new URL('../../src/lib/writeWhole.ts', import.meta.url).href;
    await Promise.all(
      ['a', 'b', 'c', 'd'].map(
        (letter) =>
          new Promise<void>((resolve, reject) => {
            const worker = new Worker(source, { eval: true, workerData: { module, file, letter } });
            worker.once('error', reject);
            worker.once('exit', () => resolve());
          }),
      ),
    );
    const content = readFileSync(file, 'utf8');
    assert.equal(content, (content[0] ?? '').repeat(50_000));
    assert.deepEqual(readdirSync(folder), ['shared.json']);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('accepts the connections of programs that start at the same time', async () => {
    const connections = { databaseUrl: 'postgres://127.0.0.1/a', eventStoreUrl: 'esdb://127.0.0.1' };
    await Promise.all(Array.from({ length: 20 }, () => writeConnections(folder, connections)));
    assert.deepEqual(await readConnections(folder), connections);
    assert.deepEqual(readdirSync(folder), ['connections.json']);
  });

  it('leaves no temporary file when it cannot replace the file', () => {
    assert.throws(() => writeWhole(folder, 'text'), /EISDIR|ENOTEMPTY|EEXIST/);
    assert.deepEqual(
      readdirSync(join(folder, '..')).filter((name) => name.startsWith(`${folder.split('/').at(-1)}.`)),
      [],
    );
  });
});
