/** Parquet, row group by row group: a file of any length takes the memory of one of them. */
import { open } from 'node:fs/promises';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { PartWriter } from './partWriter.ts';
import type { Column, Kind, Row, Value } from './tables.ts';

/** A row group ends with whichever comes first. */
const groupRows = 5_000;
const groupCharacters = 8_000_000;

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/** Tokens have up to 18 decimals; 20 digits before the point are more than any token's supply. */
const precision = 38;
export const decimalScale = 18;

const types: Readonly<Record<Kind, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT32' },
  position: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  decimal: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    converted_type: 'DECIMAL',
    precision,
    scale: decimalScale,
  },
};

export function openParquet(path: string, columns: readonly Column[]): PartWriter {
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, repetition_type: 'OPTIONAL' as const, ...types[kind] })),
  ];
  const writer = new ParquetWriter({ writer: fileWriter(path), schema, createdBy: 'payment-intents' });
  let rows: Row[] = [];
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
    // Each write opens the file and closes it.
    abandon: async () => {},
  };
}

const sizeOf = (row: Row): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

function parquetValue(kind: Kind, value: Value): unknown {
  if (value === null) return null;
  if (kind === 'time') return new Date(String(value));
  return kind === 'decimal' ? unscaled(String(value)) : value;
}

/** `-1.5` as -1.5 × 10^18, exactly. @throws Error for what does not fit: nothing is rounded */
export function unscaled(text: string): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+?)0*)?$/.exec(text) ?? [];
  if (whole === '' || fraction.length > decimalScale || whole.length > precision - decimalScale)
    throw new Error(
      `${text} is no number of ${precision} digits with ${decimalScale} after the point: export csv or ndjson`,
    );
  const digits = BigInt(whole + fraction.padEnd(decimalScale, '0'));
  return sign === '' ? digits : -digits;
}
