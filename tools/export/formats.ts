/** Files that other programs read: CSV for spreadsheets, lines of JSON and Parquet for warehouses. Money is never a float in any of them. */
import { type FileHandle, open } from 'node:fs/promises';
import { csvLine, type Figure } from '../../queries/csv.ts';
import { openParquet } from './parquet.ts';
import type { PartWriter } from './partWriter.ts';
import type { Column, Kind, Row, Value } from './tables.ts';

export const formats = ['csv', 'ndjson', 'parquet'] as const;
export type Format = (typeof formats)[number];

/** @param path of a file that is made, or made anew */
export async function openPart(format: Format, path: string, columns: readonly Column[]): Promise<PartWriter> {
  if (format === 'parquet') return openParquet(path, columns);
  const file = await open(path, 'w', 0o600);
  if (format === 'csv') await file.appendFile(csvLine(columns.map(({ name }) => name)));
  return textPart(file, format === 'csv' ? csvOf(columns) : jsonOf(columns));
}

function textPart(file: FileHandle, lineOf: (row: Row) => string): PartWriter {
  return {
    write: (rows) => file.appendFile(rows.map(lineOf).join('')),
    async finish() {
      await file.sync();
      await file.close();
    },
    abandon: () => file.close(),
  };
}

/** Strangers’ texts are no formulas; numbers of our own stay numbers. */
const csvOf = (columns: readonly Column[]) => (row: Row) =>
  csvLine(columns.map(({ name, kind }) => csvCell(kind, row[name] ?? null)));

const figures: ReadonlySet<Kind> = new Set(['integer', 'position', 'decimal']);

function csvCell(kind: Kind, value: Value): string | Figure | null {
  if (value === null) return null;
  return figures.has(kind) ? { figure: String(value) } : String(value);
}

/** One object a line. Decimals and positions are strings: a reader's numbers may not hold them. What was JSON is JSON. */
const jsonOf = (columns: readonly Column[]) => (row: Row) =>
  `{${columns.map(({ name, kind }) => `${JSON.stringify(name)}:${jsonValue(kind, row[name] ?? null)}`).join(',')}}\n`;

function jsonValue(kind: Kind, value: Value): string {
  if (value === null) return 'null';
  if (kind === 'json') return String(value).replace(/[\n\r]/g, ' ');
  return JSON.stringify(typeof value === 'bigint' ? value.toString() : value);
}
