/** Rows and values for the model of Postgres and for Postgres, drawn from what simulated worlds had. */
import { day_ms } from '../../domain/time.ts';
import type { Random } from '../simulation/kernel/ports.ts';
import type { Column, Table } from '../simulation/postgres/schema.ts';
import type { Row } from '../simulation/postgres/server.ts';
import type { Values } from '../simulation/postgres/statement.ts';
import { lineOf } from '../simulation/postgres/statements.ts';
import type { Recorded } from './statementRecorder.ts';

const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(value);
const second_ms = 1_000;
/** One of this many times is two days earlier. */
const oldOneIn = 4;
/** One of this many values is null if its column allows, or is replaced by another one. */
const nullOneIn = 5;
const replacedOneIn = 2;

export interface Generator {
  pick<T>(from: readonly T[]): T;
  below(end: number): number;
  /** Values of a column in the recorded worlds, or of columns of its name. */
  poolOf(table: Table, column: Column): readonly unknown[];
  rowOf(table: Table, mayBeNull: (column: string) => boolean): Row;
  /** The values of a call, some replaced by others that their columns had. */
  valuesOf(samples: readonly Values[]): Values;
  readonly times: readonly string[];
}

export function createGenerator(random: Random, { pools, statements }: Recorded): Generator {
  const pick = <T>(from: readonly T[]): T => from[random.below(from.length)] as T;
  const byName = new Map<string, unknown[]>();
  const columnsOf = new Map<string, string[]>();
  for (const [column, values] of pools) {
    const name = column.slice(column.lastIndexOf('.') + 1);
    byName.set(name, [...(byName.get(name) ?? []), ...values]);
    for (const value of values) columnsOf.set(keyOf(value), [...(columnsOf.get(keyOf(value)) ?? []), column]);
  }
  const related = relatedPools({ pools, statements });
  const literals = literalsIn([...statements.keys()]);
  const times = [...new Set([...pools.values()].flat().filter(isTime))].toSorted();

  /** Times differ by milliseconds, so that few rows tie in an order. */
  const jittered = (time: string): string => {
    const shift_ms = random.below(2 * second_ms) - second_ms - (random.below(oldOneIn) === 0 ? 2 * day_ms : 0);
    return new Date(Date.parse(time) + shift_ms).toISOString();
  };

  function poolOf(table: Table, { name, type }: Column): readonly unknown[] {
    // A table of one row.
    if (name === 'one') return [true];
    const own = pools.get(`${table.name}.${name}`) ?? [];
    const named = literals.get(name) ?? [];
    const pool = [...own, ...named, ...(related.get(`${table.name}.${name}`) ?? [])].filter((value) => value !== null);
    if (pool.length > 0) return pool;
    const alike = (byName.get(name) ?? []).filter((value) => value !== null && fits(type, value));
    return alike.length > 0 ? alike : fallbackOf(type, times);
  }

  return {
    pick,
    below: random.below,
    times,
    poolOf,
    rowOf: (table, mayBeNull) =>
      Object.fromEntries(
        table.columns.map((column) => {
          if (mayBeNull(column.name) && random.below(nullOneIn) === 0) return [column.name, null];
          const value = pick(poolOf(table, column));
          return [column.name, isTime(value) ? jittered(value) : value];
        }),
      ),
    valuesOf: (samples) =>
      pick(samples).map((value: unknown) => {
        if (Array.isArray(value) || value === null || isCount(value) || random.below(replacedOneIn) > 0) return value;
        if (isTime(value)) return pick(times);
        const columns = columnsOf.get(keyOf(value)) ?? [];
        return columns.length === 0
          ? value
          : pick((pools.get(pick(columns)) ?? [value]).filter((each) => each !== null));
      }),
  };
}

/** Whole numbers as text are amounts or blocks: too many columns have them. */
const isCount = (value: unknown): boolean => typeof value === 'string' && /^\d+$/.test(value);

/** Failures are noted by workers, for items of other tables. */
function relatedPools({ pools, statements }: Recorded): ReadonlyMap<string, readonly unknown[]> {
  const workers = [...statements].flatMap(([text, samples]) =>
    /worker = \$1\b/.test(text) ? samples.map(([worker]) => worker as unknown) : [],
  );
  const items = ['payments.payment_id', 'transfers.reference', 'deposits.address', 'apps.app_id', 'payins.transfer_id'];
  const keys = items.flatMap((column) => pools.get(column) ?? []);
  const distinct = [...new Set(workers)];
  return new Map([
    ['ops.work_failures.worker', distinct],
    ['ops.unreadable_transactions.worker', distinct],
    ['ops.work_failures.key', keys],
  ]);
}

const keyOf = (value: unknown): string => `${typeof value} ${String(value)}`;

const fits = (type: string, value: unknown): boolean =>
  type === 'text' || type === 'timestamptz' ? typeof value === 'string' && isTime(value) === (type !== 'text') : true;

function fallbackOf(type: string, times: readonly string[]): readonly unknown[] {
  if (type === 'timestamptz') return times;
  if (type === 'boolean') return [true, false];
  if (type === 'bytea') return [1, 2, 3].map((byte) => `\\x0${byte}`);
  if (type === 'json') return [['a', 'b']];
  if (type.endsWith('[]')) return [['a'], ['b', 'c']];
  return type === 'text' ? ['a', 'b', 'c'] : [1, 2, 3];
}

/** Texts that statements compare a column with, by the column's name. */
function literalsIn(texts: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const text of texts) {
    for (const [, column = '', one, list = ''] of lineOf(text).matchAll(
      /(\w+) (?:=|<>|IN|NOT IN) (?:'(\w+)'|\(('[^)]*')\))/g,
    )) {
      const values = one === undefined ? list.split(',').map((each) => each.trim().slice(1, -1)) : [one];
      for (const value of values) found.set(column, (found.get(column) ?? new Set()).add(value));
    }
  }
  return new Map([...found].map(([column, values]) => [column, [...values]]));
}
