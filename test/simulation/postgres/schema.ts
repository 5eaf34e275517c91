/** Tables as the product's migrations define them: columns, their types, and keys. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Table {
  readonly name: string;
  /** Null for those of operations. */
  readonly set: string | null;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  readonly types: ReadonlyMap<string, string>;
}

const directory = new URL('../../../projections/migrations/', import.meta.url);
const definition = /CREATE TABLE (\S+) \(\n([\s\S]*?)\n\);/g;

function tableOf(name: string, set: string | null, body: string): Table {
  const columns: Column[] = [];
  let key: string[] = [];
  for (const line of body.split('\n').map((each) => each.trim())) {
    const listed = /^PRIMARY KEY \(([^)]+)\)/.exec(line)?.[1];
    if (listed) key = listed.split(',').map((column) => column.trim());
    const [, column, type] = /^([a-z_"]+)\s+(timestamptz|[a-z]+(?:\[\])?)/.exec(line) ?? [];
    if (!column || !type) continue;
    const plain = column.replaceAll('"', '');
    columns.push({ name: plain, type });
    if (/PRIMARY KEY/.test(line)) key = [plain];
  }
  return { name, set, columns, key, types: new Map(columns.map((each) => [each.name, each.type])) };
}

/** Named locks of transactions: rows that nobody else can change. */
const locks: Table = { name: 'model.locks', set: null, columns: [], key: ['name'], types: new Map() };

function readTables(): ReadonlyMap<string, Table> {
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'));
  const tables = files.flatMap((file) => {
    const set = /^([a-z]+)\.sql$/.exec(file)?.[1] ?? null;
    const text = readFileSync(new URL(file, directory), 'utf8');
    return [...text.matchAll(definition)].map(([, name = '', body = '']) => tableOf(name, set, body));
  });
  return new Map([...tables, locks].map((table) => [table.name, table]));
}

export const tables = readTables();

export function tableNamed(name: string): Table {
  const table = tables.get(name);
  if (!table) throw new Error(`the model of Postgres has no table ${name}`);
  return table;
}
