import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { readParquet } from 'parquet-wasm/node';
import { unscaled } from '../../../src/api/parquetTypes.ts';
import { type ExportColumn, type ExportRow, type Format, openPart } from '../../../tools/export/formats.ts';
import { cellsOf } from '../../support/csv.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';

const columns: readonly ExportColumn[] = [
  { name: 'id', kind: 'text' },
  { name: 'chain_id', kind: 'integer' },
  { name: 'position', kind: 'position' },
  { name: 'amount', kind: 'decimal' },
  { name: 'at', kind: 'time' },
  { name: 'keyless', kind: 'boolean' },
  { name: 'metadata', kind: 'json' },
];
const nothing: ExportRow = {
  ...{ id: 'none', chain_id: null, position: null, amount: null, at: null, keyless: null, metadata: null },
};
const rows: readonly ExportRow[] = [
  {
    id: '=HYPERLINK("http://evil.example")',
    chain_id: 8453,
    position: 9_007_199_254_740_993n,
    amount: '12345678901234567890.000000000000000001',
    at: '2026-11-21T09:00:00.123Z',
    keyless: false,
    metadata: '{"cart":"É\\n2","count":12345678901234567890}',
  },
  { ...nothing, id: 'less', amount: '-0.05' },
  nothing,
];

async function written(format: Format, groups: readonly (readonly ExportRow[])[] = [rows]): Promise<Buffer> {
  const path = join(temporaryDirectory(), `part.${format}`);
  const part = await openPart(format, path, columns);
  for (const group of groups) await part.write(group);
  await part.finish();
  return readFileSync(path);
}

/** Reads the table with independent readers. */
function tableIn(parquet: Buffer) {
  return tableFromIPC(readParquet(parquet).intoIPCStream());
}

describe('the files of an export', () => {
  it('are Parquet that other readers accept, with exact decimals, whole positions and times', async () => {
    const table = tableIn(await written('parquet'));
    assert.deepEqual(
      table.schema.fields.map(({ name, type }) => `${name} ${type}`),
      [
        'id Utf8',
        'chain_id Int32',
        'position Int64',
        'amount Decimal[38e+18]',
        'at Timestamp<MILLISECOND, UTC>',
        'keyless Bool',
        'metadata Utf8',
      ],
    );
    const amounts = table.getChild('amount');
    assert.equal(decimal(amounts?.get(0)), 12345678901234567890_000000000000000001n);
    assert.equal(decimal(amounts?.get(1)), -50_000_000_000_000_000n);
    assert.equal(amounts?.get(2), null);
    assert.equal(table.getChild('position')?.get(0), 9_007_199_254_740_993n);
    assert.equal(new Date(table.getChild('at')?.get(0)).toISOString(), rows[0]?.['at']);
    assert.equal(table.getChild('metadata')?.get(0), rows[0]?.['metadata']);
    assert.equal(table.getChild('keyless')?.get(0), false);
  });

  it('are Parquet of several row groups where there are many rows', async () => {
    const many = Array.from(
      { length: 12_001 },
      (_, index): ExportRow => ({ ...nothing, id: `row ${index}`, amount: `${index}.5` }),
    );
    const bytes = await written('parquet', [many.slice(0, 7_000), many.slice(7_000)]);
    const table = tableIn(bytes);
    assert.equal(table.numRows, 12_001);
    assert.equal(table.getChild('id')?.get(12_000), 'row 12000');
    assert.equal(decimal(table.getChild('amount')?.get(12_000)), unscaled('12000.5'));
  });

  it('refuse a number that Parquet would have to round', () => {
    for (const text of ['0.0000000000000000001', '123456789012345678901', 'NaN', '1e3'])
      assert.throws(() => unscaled(text), /export csv or ndjson/);
    assert.equal(unscaled('10.500000000000000000000'), 10_500_000_000_000_000_000n);
  });

  it('are lines of JSON, in which amounts and positions are strings and JSON is JSON', async () => {
    const lines = (await written('ndjson')).toString().trim().split('\n');
    assert.equal(lines.length, 3);
    assert.match(lines[0] ?? '', /"count":12345678901234567890/);
    assert.deepEqual(
      { ...JSON.parse(lines[0] ?? ''), metadata: null },
      {
        ...rows[0],
        position: '9007199254740993',
        metadata: null,
      },
    );
    assert.deepEqual(JSON.parse(lines[2] ?? ''), nothing);
  });

  it('are CSV in which nothing is a formula and a number below zero is a number', async () => {
    const [head, first, second] = cellsOf((await written('csv')).toString());
    assert.deepEqual(
      head,
      columns.map(({ name }) => name),
    );
    assert.match(first?.[0] ?? '', /^'=HYPERLINK/);
    assert.equal(first?.[3], '12345678901234567890.000000000000000001');
    assert.equal(second?.[3], '-0.05');
  });
});

/** Returns the decimal that Arrow stores as four words, the lowest first. */
function decimal(words: Uint32Array): bigint {
  const value = [...words].reduceRight((sum, word) => (sum << 32n) | BigInt(word >>> 0), 0n);
  return BigInt.asIntN(128, value);
}
