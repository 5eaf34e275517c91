/** Writes pages into parts, each a whole file that the manifest names. Stopped anywhere, it is run again and goes on behind the last part. */
import { openPart } from './formats.ts';
import {
  type Exported,
  keepPart,
  type Manifest,
  nextFile,
  openManifest,
  rowsIn,
  unfinishedPath,
  writeManifest,
} from './manifest.ts';
import type { PartWriter } from './partWriter.ts';
import type { Source } from './source.ts';
import { columnsOf } from './tables.ts';

export interface ExportDeps {
  readonly directory: string;
  readonly exports: Exported;
  readonly source: Source;
  readonly signal: AbortSignal;
  /** Rows of a part, and what an interrupted export writes again at most; the page that passes it is still in it. */
  readonly partRows?: number;
  /** An event by which the log is recognized when the export goes on. */
  readonly known?: Manifest['known'];
  /** Called after each page. */
  readonly onProgress?: (done: { readonly rows: number; readonly share: number }) => void;
  /** Called where a stop must neither lose nor repeat a row. */
  readonly crash?: (point: 'unfinished' | 'finished' | 'named' | 'kept') => void | Promise<void>;
}

const partRowsDefault = 100_000;

interface OpenPart {
  readonly file: string;
  readonly writer: PartWriter;
  rows: number;
}

/** @returns what the directory holds now, and how many rows are new. @throws ExportError, Unavailable */
export async function runExport(deps: ExportDeps): Promise<{ readonly manifest: Manifest; readonly added: number }> {
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
    writeManifest(directory, manifest, next);
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
