/** Export formats: CSV for spreadsheets, lines of JSON and Parquet for warehouses. Money is never a float in any of them. */
import { type FileHandle, open } from 'node:fs/promises';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { Tables } from '../../projections/tables.ts';
import { csvLine, type Figure } from '../../queries/paymentsCsv.ts';
import { type Kind, parquetTypes, parquetValue, type SchemaElement, type Value } from '../../src/api/parquetTypes.ts';

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

// Exportable columns. The type checker requires a decision about a view's new column: export or exclude.

export type { Kind, Value };

export interface ExportColumn {
  readonly name: string;
  readonly kind: Kind;
}

export type ExportRow = Readonly<Record<string, Value>>;

export const subjects = ['payments', 'transfers', 'events'] as const;
export type Subject = (typeof subjects)[number];

/** Rows of Postgres: the view, its key, and the time that `--from` and `--to` refer to. */
export interface View {
  readonly view: 'payments' | 'transactions';
  readonly key: readonly string[];
  readonly time: string;
}

type Kinds<T> = Readonly<Record<keyof T & string, Kind | 'leftOut'>>;

/** Excludes addresses of webhooks: some contain a password. */
const payments: Kinds<Tables['payments']> = {
  payment_id: 'text',
  app_id: 'text',
  order_id: 'text',
  status: 'text',
  error_code: 'text',
  error_message: 'text',
  type: 'text',
  intent: 'text',
  keyless: 'boolean',
  title: 'text',
  description: 'text',
  currency: 'text',
  line_items: 'json',
  metadata: 'json',
  webhook_url: 'leftOut',
  created_at: 'time',
  updated_at: 'time',
  expires_at: 'time',
  source_chain_id: 'integer',
  source_token_symbol: 'text',
  source_token_address: 'text',
  source_amount: 'decimal',
  source_fee: 'decimal',
  deposit_address: 'text',
  deposit_memo: 'text',
  deposit_contract: 'text',
  deposit_contract_memo: 'text',
  sender_address: 'text',
  payin_tx_hash: 'text',
  amount_received: 'decimal',
  amount_expected: 'decimal',
  amount_came: 'decimal',
  amount_delta: 'decimal',
  excess: 'decimal',
  dust: 'decimal',
  refunded: 'decimal',
  refunds: 'json',
  payin_seen_at: 'time',
  payin_confirmed_at: 'time',
  destination_chain_id: 'integer',
  destination_token_symbol: 'text',
  destination_token_address: 'text',
  destination_amount: 'decimal',
  receiver_address: 'text',
  receiver_memo: 'text',
  pay_from: 'json',
  payout_tx_hash: 'text',
  payout_confirmed_at: 'time',
  missing: 'decimal',
  held: 'json',
  cancelled_at: 'time',
  refund_of: 'text',
  note: 'leftOut',
  tags: 'leftOut',
  revision: 'position',
};

const transfers: Kinds<Tables['transactions']> = {
  payment_id: 'text',
  app_id: 'text',
  kind: 'text',
  chain_id: 'integer',
  tx_hash: 'text',
  index: 'position',
  status: 'text',
  standing: 'text',
  token_symbol: 'text',
  token_address: 'text',
  amount: 'decimal',
  from_address: 'text',
  to_address: 'text',
  block_number: 'decimal',
  block_hash: 'text',
  at: 'time',
};

const events: Readonly<Record<string, Kind>> = {
  position: 'position',
  stream: 'text',
  revision: 'position',
  event_id: 'text',
  type: 'text',
  at: 'time',
  cause: 'text',
  app_id: 'text',
  schema_version: 'integer',
  data: 'json',
};

const columnsIn = (kinds: Readonly<Record<string, Kind | 'leftOut'>>): readonly ExportColumn[] =>
  Object.entries(kinds).flatMap(([name, kind]) => (kind === 'leftOut' ? [] : [{ name, kind }]));

export const columnsOf: Readonly<Record<Subject, readonly ExportColumn[]>> = {
  payments: columnsIn(payments),
  transfers: columnsIn(transfers),
  events: columnsIn(events),
};

export const exportView: Readonly<Record<Exclude<Subject, 'events'>, View>> = {
  payments: { view: 'payments', key: ['payment_id'], time: 'created_at' },
  transfers: {
    view: 'transactions',
    key: ['payment_id', 'kind', 'chain_id', 'tx_hash', 'index'],
    time: 'at',
  },
};
