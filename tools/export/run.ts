/** Writes pages into parts, each a complete file in the manifest. After an interruption, another run continues after the last part. */

import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { closed, Digest, nullable, oneOf, Text } from '../../domain/schema.ts';
import { quoted, type Sql } from '../../projections/sql.ts';
import {
  columnsOf,
  type ExportColumn,
  type ExportRow,
  formats,
  openPart,
  type PartWriter,
  subjects,
  type View,
} from './formats.ts';

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

// ExportManifest of an export's directory: subject, complete files, and progress.

const format = 'payment-intents export 1';
const Count = Type.Integer({ minimum: 0 });
const Position = Type.String({ pattern: '^[0-9]{1,20}$' });

/** Subject of an export. Another one needs another directory. */
const Exported = Type.Object(
  {
    subject: oneOf(subjects),
    format: oneOf(formats),
    /** period: rows with a time in it. log: changes since a position, kept up to date. */
    by: oneOf(['period', 'log']),
    from: nullable(Text(24)),
    to: nullable(Text(24)),
    /** Log position after which it begins; null for the first event. */
    after: nullable(Position),
  },
  closed,
);
export type Exported = Static<typeof Exported>;

const manifestShape = Type.Object(
  {
    format: Type.Literal(format),
    exports: Exported,
    /** True if the export is complete. An export by log never is. */
    complete: Type.Boolean(),
    /** Everything up to here is in the parts: a log position, or a row's key. */
    upTo: nullable(Text(1_000)),
    /** An event of the exported log, because an export cannot continue from another log. Only for an export by log. */
    known: Type.Optional(Type.Object({ position: Position, eventId: Text(64) }, closed)),
    parts: Type.Array(
      Type.Object({ file: Text(64), rows: Count, bytes: Count, sha256: Digest, upTo: Text(1_000) }, closed),
      {
        maxItems: 1_000_000,
      },
    ),
  },
  closed,
);
export type ExportManifest = Static<typeof manifestShape>;
export type ExportPart = ExportManifest['parts'][number];

/** A directory in which this export cannot continue. The message says why. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

const pathOf = (directory: string): string => join(directory, 'manifest.json');

/**
 * Opens the directory's export, or creates one in an empty directory. Deletes unfinished files.
 * @throws ExportError if it has another export
 */
function openManifest(directory: string, exports: Exported): ExportManifest {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(directory)) if (file.endsWith(unfinished)) rmSync(join(directory, file));
  const found = readExportManifest(directory);
  if (!found) return { format, exports, complete: false, upTo: exports.after, parts: [] };
  if (Value.Equal(found.exports, exports)) return found;
  throw new ExportError(
    `${directory} holds another export (${JSON.stringify(found.exports)}): ask for the same, or name another directory with --out`,
  );
}

/** Undefined if the directory has none. @throws ExportError for a foreign one */
export function readExportManifest(directory: string): ExportManifest | undefined {
  if (!existsSync(pathOf(directory))) return undefined;
  try {
    const manifest: unknown = JSON.parse(readFileSync(pathOf(directory), 'utf8'));
    if (Value.Check(manifestShape, manifest)) return manifest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ExportError(`${pathOf(directory)} is no manifest of this program: name another directory with --out`);
}

const unfinished = '.unfinished';

const nextFile = ({ exports, parts }: ExportManifest): string =>
  `${exports.subject}-${String(parts.length + 1).padStart(6, '0')}.${exports.format}`;

const unfinishedPath = (directory: string, file: string): string => join(directory, `${file}${unfinished}`);

/** Renames a finished file. After an interruption before the manifest names it, it is made again under the same name. */
async function keepPart(directory: string, file: string, rows: number, upTo: string): Promise<ExportPart> {
  const path = unfinishedPath(directory, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = statSync(path);
  renameSync(path, join(directory, file));
  return { file, rows, bytes: size, sha256: hash.digest('hex'), upTo };
}

/** @throws ExportError if another export has written to the directory since `before` was read */
function writeExportManifest(directory: string, before: ExportManifest, manifest: ExportManifest): void {
  const there = readExportManifest(directory);
  if ((there?.parts.length ?? 0) !== before.parts.length)
    throw new ExportError(`another export writes to ${directory}: let it end, then run this one again`);
  const beside = `${pathOf(directory)}.${process.pid}${unfinished}`;
  writeFileSync(beside, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(beside, pathOf(directory));
}

export const rowsIn = ({ parts }: ExportManifest): number => parts.reduce((sum, { rows }) => sum + rows, 0);
