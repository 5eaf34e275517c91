/** Generations, checkpoints, and rows of read models. There is one generation of each set. */

import { type Table, tableNamed, tables } from '../schema.ts';
import type { Row, View } from '../server.ts';
import type { Statements, Values } from '../statement.ts';
import { by, compare } from '../values.ts';

const known: Row[] = [];

/** Columns in the form of `describeTables`. */
function columnsOf(schema: string): readonly Row[] {
  const set = schema.replaceAll('"', '').replace(/_\d+$/, '');
  return [...tables.values()]
    .sort(by('name'))
    .flatMap((table) =>
      table.set === set
        ? table.columns.map(({ name, type }) => ({ table: table.name, name, type, key: table.key.includes(name) }))
        : known,
    );
}

function typed(type: string | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'bigint') return BigInt(value as string);
  if (type === 'integer') return Number(value);
  if (type === 'numeric') return String(value);
  return value;
}

const whole = ({ columns, types }: Table, row: Row): Row =>
  Object.fromEntries(columns.map(({ name }) => [name, typed(types.get(name), row[name])]));

const targetOf = (text: string): Table => {
  const [, name = ''] = /(?:INTO|FROM) "\w+"\."(\w+)"/.exec(text) ?? [];
  return tableNamed(name);
};

const given = ([json]: Values): readonly Row[] => JSON.parse(json) as Row[];

function upsert(view: View, values: Values, text: string): readonly Row[] {
  const table = targetOf(text);
  for (const row of given(values)) view.put(table.name, whole(table, row));
  return [];
}

function remove(view: View, values: Values, text: string): readonly Row[] {
  const table = targetOf(text);
  for (const row of given(values)) view.remove(table.name, whole(table, row));
  return [];
}

const isCounted = (table: Table, column: string): boolean => !table.key.includes(column);

/** Addition for types of sums. */
function plus(type: string, a: unknown, b: unknown): unknown {
  if (type === 'bigint') return (a as bigint) + (b as bigint);
  if (type === 'integer') return (a as number) + (b as number);
  return decimalPlus(String(a), String(b));
}

function decimalPlus(a: string, b: string): string {
  const places = Math.max(...[a, b].map((text) => text.split('.')[1]?.length ?? 0));
  const units = [a, b].map((text) => {
    const [wholePart = '0', fraction = ''] = text.split('.');
    return BigInt(wholePart + fraction.padEnd(places, '0'));
  }) as [bigint, bigint];
  const sum = units[0] + units[1];
  const digits = (sum < 0n ? -sum : sum).toString().padStart(places + 1, '0');
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return sum < 0n ? `-${text}` : text;
}

function add(view: View, values: Values, text: string): readonly Row[] {
  const table = targetOf(text);
  for (const each of given(values)) {
    const row = whole(table, each);
    const held = view.get(
      table.name,
      table.key.map((column) => row[column]),
    );
    if (!held) view.put(table.name, row);
    else {
      const sums = table.columns.map(({ name, type }) => [
        name,
        isCounted(table, name) ? plus(type, held[name], row[name]) : row[name],
      ]);
      view.put(table.name, Object.fromEntries(sums));
    }
  }
  return [];
}

/** Rows that sum up to nothing. */
function sweep(view: View, values: Values, text: string): readonly Row[] {
  const table = targetOf(text);
  for (const each of given(values)) {
    const key = whole(table, each);
    const held = view.get(
      table.name,
      table.key.map((column) => key[column]),
    );
    const isNothing =
      held && table.columns.every(({ name }) => !isCounted(table, name) || /^-?0*(\.0*)?$/.test(String(held[name])));
    if (held && isNothing) view.remove(table.name, held);
  }
  return [];
}

/** Each group continues its numbering. */
function number(view: View, values: Values, text: string): readonly Row[] {
  const [, name = ''] = /INSERT INTO "\w+"\."(\w+)"/.exec(text) ?? [];
  const table = tableNamed(name);
  const group = table.key.slice(0, -1);
  const numbered = table.key.at(-1) ?? '';
  const newest = new Map<string, bigint>();
  for (const each of given(values)) {
    const row = whole(table, each);
    const ofGroup = group.map((column) => String(row[column]));
    const key = ofGroup.join(' ');
    const held = view.rows(name).filter((other) => group.every((column) => other[column] === row[column]));
    const numbers = held.map((other) => BigInt(other[numbered])).sort(compare);
    const next = (newest.get(key) ?? numbers.at(-1) ?? 0n) + 1n;
    newest.set(key, next);
    view.put(name, { ...row, [numbered]: typed(table.types.get(numbered), next.toString()) });
  }
  return [...newest].map(([key, last]) => ({ news: `${key} ${last}` }));
}

const active = (view: View, set: string): readonly Row[] =>
  view.rows('ops.projections').filter((row) => row['set_name'] === set && row['status'] === 'active');

export const projectionStatements: Statements = [
  [
    'SELECT pg_advisory_xact_lock(',
    (view, values, text) => {
      view.put('model.locks', { name: `${text} ${values.join(' ')}` });
      return [];
    },
  ],
  [
    'SELECT generation, version, status, position, event_id, applied_position, applied_id, events FROM ops.projections',
    (view, [set, status]) => active(view, set).filter((row) => row['status'] === status),
  ],
  [
    'SELECT set_name AS name, generation, position, event_id, applied_position, applied_id FROM ops.projections',
    (view) => view.rows('ops.projections').map((row) => ({ ...row, name: row['set_name'] })),
  ],
  [
    'SELECT name, NULL AS generation, position, event_id, applied_position, applied_id FROM ops.followers',
    (view) => view.rows('ops.followers').map((row) => ({ ...row, generation: null })),
  ],
  ['SELECT position FROM ops.projections WHERE set_name = $1', (view, [set]) => active(view, set)],
  ['FROM pg_class c JOIN pg_attribute', (_view, [schema]) => columnsOf(schema)],
  [
    'UPDATE ops.projections SET position = $1, event_id = $2, applied_position = $3, applied_id = $4, events = events + $5',
    (view, [position, event_id, applied_position, applied_id, events, set, generation, status, from]) => {
      const row = view.get('ops.projections', [set, generation]);
      // A row that somebody else moves is waited for, and then read again.
      if (row) view.put('ops.projections', row);
      if (!row || row['status'] !== status || row['position'] !== from) return [];
      const moved = { position, event_id, applied_position, applied_id };
      view.put('ops.projections', { ...row, ...moved, events: row['events'] + BigInt(events), stopped: null });
      return [{}];
    },
  ],
  ['UPDATE ops.projections SET stopped = NULL', () => []],
  [
    'UPDATE ops.projections SET stopped = $1',
    (view, [stopped, set, generation]) => {
      const row = view.get('ops.projections', [set, generation]);
      if (row) view.put('ops.projections', { ...row, stopped });
      return [];
    },
  ],
  [
    'SELECT pg_notify(channel, payload) FROM unnest(',
    (view, [channels, payloads]) => {
      for (const [at, channel] of channels.entries()) view.notify(channel, payloads[at]);
      return [];
    },
  ],
  [
    "SELECT pg_notify($1, '')",
    (view, [channel]) => {
      view.notify(channel, '');
      return [];
    },
  ],
  [
    'FROM json_to_recordset($1::json)',
    (view, values, text) => (/AS held/.test(text) ? add : upsert)(view, values, text),
  ],
  ['AS held USING json_to_recordset', (view, values, text) => (/ = 0/.test(text) ? sweep : remove)(view, values, text)],
  ['WITH given AS (SELECT * FROM ROWS FROM (json_to_recordset', number],
];
