/** Rows of a view whose time lies in a period, by their key: one way through the table, whatever is asked for. */
import { quoted, type Sql } from '../../projections/sql.ts';
import type { Page, Period, Source } from './source.ts';
import type { Column, Row, View } from './tables.ts';

const pageRows = 500;

/** json as its text: read and written again, numbers in it would be rounded. */
export const selectList = (columns: readonly Column[]): string =>
  columns
    .map(({ name, kind }) => (kind === 'json' ? `${quoted(name)}::text AS ${quoted(name)}` : quoted(name)))
    .join(', ');

export function rowsOfPeriod(sql: Sql, { view, key, time }: View, columns: readonly Column[], period: Period): Source {
  const keyed = `(${key.map(quoted).join(', ')})`;
  const ofPeriod = `${quoted(time)} >= coalesce($1::timestamptz, '-infinity') AND ${quoted(time)} < coalesce($2::timestamptz, 'infinity')`;
  const limits = [period.from, period.to];
  const behind = `${keyed} > (${key.map((_, index) => `$${index + 3}`).join(', ')})`;
  return async function* pages(after): AsyncGenerator<Page> {
    let last = after === null ? null : (JSON.parse(after) as readonly string[]);
    const left = await sql.query<{ count: bigint }>(
      `SELECT count(*) FROM ${view} WHERE ${ofPeriod}${last ? ` AND ${behind}` : ''}`,
      [...limits, ...(last ?? [])],
    );
    const total = Number(left[0]?.count ?? 0n);
    for (let read = 0, full = true; full; ) {
      const rows: readonly Row[] = await sql.query<Row>(
        `SELECT ${selectList(columns)} FROM ${view} WHERE ${ofPeriod}${last ? ` AND ${behind}` : ''}
          ORDER BY ${keyed.slice(1, -1)} LIMIT ${pageRows}`,
        [...limits, ...(last ?? [])],
      );
      const newest = rows.at(-1);
      if (newest) last = key.map((name) => String(newest[name]));
      read += rows.length;
      full = rows.length === pageRows;
      if (last) yield { rows, upTo: JSON.stringify(last), done: full ? Math.min(1, read / total) : 1 };
    }
  };
}
