/** Export formats: CSV for spreadsheets, lines of JSON and Parquet for warehouses. Money is never a float in any of them. */

import { type FileHandle, open } from 'node:fs/promises';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import { csvLine, type Figure } from '../../queries/paymentsCsv.ts';
import { parquetTypes, parquetValue, type SchemaElement } from '../../src/api/parquetTypes.ts';
import type { ExportColumn, ExportRow, Kind, Value } from './tables.ts';

/** A row group ends at the first of these limits. */
const groupRows = 5_000;
const groupCharacters = 8_000_000;

/** Writes Parquet by row group: a file of any length needs the memory of one row group. */
export function openParquet(path: string, columns: readonly ExportColumn[]): PartWriter {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, repetition_type: 'OPTIONAL' as const, ...parquetTypes[kind] })),
  ];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema, createdBy: 'payment-intents' });
  let rows: ExportRow[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    const columnData = columns.map(({ name, kind }) => ({
      name,
      data: rows.map((row) => parquetValue(kind, row[name] ?? null)),
    }));
    await writer.write({ columnData, rowGroupSize: rows.length });
    rows = [];
    characters = 0;
  };
  return {
    async write(more) {
      for (const row of more) {
        rows.push(row);
        characters += sizeOf(row);
        if (rows.length >= groupRows || characters >= groupCharacters) await flush();
      }
    },
    async finish() {
      await flush();
      await writer.finish();
      const file = await open(path, 'r+');
      await file.chmod(0o600);
      await file.sync();
      await file.close();
    },
    // Each write opens and closes the file.
    abandon: async () => {},
  };
}

const sizeOf = (row: ExportRow): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

export const formats = ['csv', 'ndjson', 'parquet'] as const;
export type Format = (typeof formats)[number];

/** @param path of a file to create or overwrite */
export async function openPart(format: Format, path: string, columns: readonly ExportColumn[]): Promise<PartWriter> {
  if (format === 'parquet') return openParquet(path, columns);
  const file = await open(path, 'w', 0o600);
  if (format === 'csv') await file.appendFile(csvLine(columns.map(({ name }) => name)));
  return textPart(file, format === 'csv' ? csvOf(columns) : jsonOf(columns));
}

function textPart(file: FileHandle, lineOf: (row: ExportRow) => string): PartWriter {
  return {
    write: (rows) => file.appendFile(rows.map(lineOf).join('')),
    async finish() {
      await file.sync();
      await file.close();
    },
    abandon: () => file.close(),
  };
}

/** Escapes formulas in foreign texts; the product's own numbers stay numbers. */
const csvOf = (columns: readonly ExportColumn[]) => (row: ExportRow) =>
  csvLine(columns.map(({ name, kind }) => csvCell(kind, row[name] ?? null)));

const figures: ReadonlySet<Kind> = new Set(['integer', 'position', 'decimal']);

function csvCell(kind: Kind, value: Value): string | Figure | null {
  if (value === null) return null;
  return figures.has(kind) ? { figure: String(value) } : String(value);
}

/** One object per line. Decimals and positions are strings, because a reader's numbers may be too small. JSON stays JSON. */
const jsonOf = (columns: readonly ExportColumn[]) => (row: ExportRow) =>
  `{${columns.map(({ name, kind }) => `${JSON.stringify(name)}:${jsonValue(kind, row[name] ?? null)}`).join(',')}}\n`;

function jsonValue(kind: Kind, value: Value): string {
  if (value === null) return 'null';
  if (kind === 'json') return String(value).replace(/[\n\r]/g, ' ');
  return JSON.stringify(typeof value === 'bigint' ? value.toString() : value);
}

/** A file being written. It is complete once `finish` has resolved. */
export interface PartWriter {
  write(rows: readonly ExportRow[]): Promise<void>;
  finish(): Promise<void>;
  /** Closes an unfinished file. Does nothing after `finish`. */
  abandon(): Promise<void>;
}
