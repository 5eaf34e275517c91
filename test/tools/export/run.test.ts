import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { columnsOf, type ExportRow } from '../../../tools/export/formats.ts';
import {
  type ExportDeps,
  type Exported,
  type ExportManifest,
  type RowSource,
  runExport,
} from '../../../tools/export/run.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const exports: Exported = { subject: 'transfers', format: 'ndjson', by: 'log', from: null, to: null, after: null };
const empty = Object.fromEntries(columnsOf.transfers.map(({ name }) => [name, null]));
const row = (n: number): ExportRow => ({ ...empty, payment_id: `payment ${n}`, amount: `${n}.5` });

/** Rows 1 to `end`, two per page; a page's place is its last row. */
const numbered = (end: number): RowSource =>
  async function* pages(after) {
    for (let at = Number(after ?? 0) + 1; at <= end; at += 2) {
      const rows = at < end ? [row(at), row(at + 1)] : [row(at)];
      yield { rows, upTo: String(Math.min(at + 1, end)), done: at / end };
    }
  };

const signal = new AbortController().signal;
const exported = (directory: string, end: number, more: Partial<ExportDeps> = {}) =>
  runExport({ directory, exports, source: numbered(end), signal, partRows: 4, ...more });

/** All rows of the files that the manifest names, in order. */
function idsIn(directory: string): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as ExportManifest;
  return manifest.parts.flatMap(({ file, rows, sha256 }) => {
    const bytes = readFileSync(join(directory, file));
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256);
    const lines = bytes.toString().trim().split('\n');
    assert.equal(lines.length, rows);
    return lines.map((line) => JSON.parse(line).payment_id);
  });
}
const all = (end: number) => Array.from({ length: end }, (_, index) => `payment ${index + 1}`);

describe('an export', () => {
  it('writes whole files and names each in its manifest, with its rows, its digest and its end', async () => {
    const directory = temporaryDirectory();
    const { manifest, added } = await exported(directory, 9);
    assert.equal(added, 9);
    assert.deepEqual(
      manifest.parts.map(({ file, rows, upTo }) => [file, rows, upTo]),
      [
        ['transfers-000001.ndjson', 4, '4'],
        ['transfers-000002.ndjson', 4, '8'],
        ['transfers-000003.ndjson', 1, '9'],
      ],
    );
    assert.deepEqual(idsIn(directory), all(9));
  });

  it('adds newer rows, and nothing where nothing is new', async () => {
    const directory = temporaryDirectory();
    await exported(directory, 5);
    assert.equal((await exported(directory, 8)).added, 3);
    assert.equal((await exported(directory, 8)).added, 0);
    assert.deepEqual(idsIn(directory), all(8));
  });

  for (const point of ['unfinished', 'finished', 'named', 'kept'] as const) {
    for (const time of [1, 2, 3]) {
      it(`dying at "${point}" for the ${time}. time produces the same files as one that does not`, async () => {
        const directory = temporaryDirectory();
        let passings = 0;
        const crash = (at: string): void => {
          if (at === point && ++passings === time) throw new Error('power cut');
        };
        await assert.rejects(exported(directory, 9, { crash }), /power cut/);
        writeFileSync(join(directory, 'transfers-000009.ndjson.unfinished'), 'half a li');
        await exported(directory, 9);
        assert.deepEqual(idsIn(directory), all(9));
        assert.equal(readdirSync(directory).length, 4, 'three parts and the manifest');
      });
    }
  }

  it('for a period is complete at its end, and reads nothing when it is run again', async () => {
    const directory = temporaryDirectory();
    const period: Exported = { ...exports, by: 'period', from: '2026-11-01T00:00:00.000Z', to: null };
    assert.equal((await exported(directory, 3, { exports: period })).manifest.complete, true);
    const unread: RowSource = () => assert.fail('it is complete');
    assert.equal((await exported(directory, 0, { exports: period, source: unread })).added, 0);
  });

  it('refuses a directory of another export, and one that another program writes to at the same time', async () => {
    const directory = temporaryDirectory();
    await exported(directory, 5);
    await assert.rejects(
      exported(directory, 5, { exports: { ...exports, format: 'csv' } }),
      /holds another export.*name another directory/,
    );
    const meanwhile = async (): Promise<void> => void (await exported(directory, 9));
    let once = true;
    const crash = async (point: string): Promise<void> => {
      if (point === 'named' && once) [once] = [false, await meanwhile()];
    };
    await assert.rejects(exported(directory, 9, { crash }), /another export writes/);
  });

  it('stops when it is interrupted, and leaves complete files', async () => {
    const directory = temporaryDirectory();
    const stop = new AbortController();
    const crash = (point: string): void => {
      if (point === 'kept') stop.abort(new Error('Interrupted'));
    };
    await assert.rejects(exported(directory, 9, { signal: stop.signal, crash }), /Interrupted/);
    assert.deepEqual(idsIn(directory), all(4));
  });
});
