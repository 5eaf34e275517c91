/** Writes pages into parts, each a complete file in the manifest. After an interruption, another run continues after the last part. */
import { quoted, type Sql } from '../../projections/sql.ts';
import { openPart, type PartWriter } from './formats.ts';
import {
  type Exported,
  type ExportManifest,
  keepPart,
  nextFile,
  openManifest,
  rowsIn,
  unfinishedPath,
  writeExportManifest,
} from './manifest.ts';
import { columnsOf, type ExportColumn, type ExportRow, type View } from './tables.ts';

export interface ExportDeps {
  readonly directory: string;
  readonly exports: Exported;
  readonly source: RowSource;
  readonly signal: AbortSignal;
  /** Rows of a part, the maximum that an interrupted export repeats; rounded up to a page. */
  readonly partRows?: number;
  /** An event that identifies the log when the export continues. */
  readonly known?: ExportManifest['known'];
  /** Called after each page. */
  readonly onProgress?: (done: { readonly rows: number; readonly share: number }) => void;
  /** Called at points where an interruption must neither lose nor repeat a row. */
  readonly crash?: (point: 'unfinished' | 'finished' | 'named' | 'kept') => void | Promise<void>;
}

const partRowsDefault = 100_000;

interface OpenPart {
  readonly file: string;
  readonly writer: PartWriter;
  rows: number;
}

/** @returns the directory's current content, and the number of new rows. @throws ExportError, Unavailable */
export async function runExport(
  deps: ExportDeps,
): Promise<{ readonly manifest: ExportManifest; readonly added: number }> {
  const { directory, exports, source, signal, known, partRows = partRowsDefault, onProgress, crash = () => {} } = deps;
  let manifest = openManifest(directory, exports);
  const before = rowsIn(manifest);
  let part: OpenPart | null = null;
  let upTo = manifest.upTo;

  async function begin(): Promise<OpenPart> {
    const file = nextFile(manifest);
    const path = unfinishedPath(directory, file);
    return { file, rows: 0, writer: await openPart(exports.format, path, columnsOf[exports.subject]) };
  }
  async function keep(open: OpenPart | null, complete: boolean): Promise<void> {
    await open?.writer.finish();
    await crash('finished');
    const kept = open && upTo !== null ? [await keepPart(directory, open.file, open.rows, upTo)] : [];
    await crash('named');
    const next = { ...manifest, complete, upTo, ...(known && { known }), parts: [...manifest.parts, ...kept] };
    writeExportManifest(directory, manifest, next);
    manifest = next;
    await crash('kept');
  }

  try {
    for await (const page of manifest.complete ? [] : source(manifest.upTo)) {
      signal.throwIfAborted();
      if (page.rows.length > 0) {
        part ??= await begin();
        await part.writer.write(page.rows);
        part.rows += page.rows.length;
        await crash('unfinished');
      }
      upTo = page.upTo;
      onProgress?.({ rows: rowsIn(manifest) + (part?.rows ?? 0), share: page.done });
      if (part === null || part.rows < partRows) continue;
      await keep(part, false);
      part = null;
    }
    signal.throwIfAborted();
    if (!manifest.complete) await keep(part, exports.by === 'period');
  } finally {
    await part?.writer.abandon();
  }
  return { manifest, added: rowsIn(manifest) - before };
}

const pageRows = 500;

/** json as its text: parsing and formatting would round its numbers. */
export const selectList = (columns: readonly ExportColumn[]): string =>
  columns
    .map(({ name, kind }) => (kind === 'json' ? `${quoted(name)}::text AS ${quoted(name)}` : quoted(name)))
    .join(', ');

/** Reads the rows of a view whose time is in the period, ordered by key: one pass over the table, whatever the period is. */
export function rowsOfPeriod(
  sql: Sql,
  { view, key, time }: View,
  columns: readonly ExportColumn[],
  period: Period,
): RowSource {
  const keyed = `(${key.map(quoted).join(', ')})`;
  const ofPeriod = `${quoted(time)} >= coalesce($1::timestamptz, '-infinity') AND ${quoted(time)} < coalesce($2::timestamptz, 'infinity')`;
  const limits = [period.from, period.to];
  const behind = `${keyed} > (${key.map((_, index) => `$${index + 3}`).join(', ')})`;
  return async function* pages(after): AsyncGenerator<ExportPage> {
    let last = after === null ? null : (JSON.parse(after) as readonly string[]);
    const left = await sql.query<{ count: bigint }>(
      `SELECT count(*) FROM ${view} WHERE ${ofPeriod}${last ? ` AND ${behind}` : ''}`,
      [...limits, ...(last ?? [])],
    );
    const total = Number(left[0]?.count ?? 0n);
    for (let read = 0, full = true; full; ) {
      const rows: readonly ExportRow[] = await sql.query<ExportRow>(
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

export interface ExportPage {
  readonly rows: readonly ExportRow[];
  /** Everything up to here is in this page or earlier ones. Opaque text of the source. */
  readonly upTo: string;
  /** From 0 to 1. */
  readonly done: number;
}

/**
 * Returns rows as pages in a fixed order, so an export continues after its last stored page.
 * @param after `upTo` of the last stored page; null from the beginning. @throws Unavailable
 */
export type RowSource = (after: string | null) => AsyncIterable<ExportPage>;

/** Times from the first one on, and before the second one. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

export const isIn = ({ from, to }: Period, at: string): boolean =>
  (from === null || at >= from) && (to === null || at < to);

export const shareOf = (position: bigint, end: bigint): number =>
  end === 0n || position >= end ? 1 : Number((position * 10_000n) / end) / 10_000;
