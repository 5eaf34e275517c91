/** ExportManifest of an export's directory: subject, complete files, and progress. */
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
import { formats } from './formats.ts';
import { subjects } from './tables.ts';

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
export function openManifest(directory: string, exports: Exported): ExportManifest {
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

export const nextFile = ({ exports, parts }: ExportManifest): string =>
  `${exports.subject}-${String(parts.length + 1).padStart(6, '0')}.${exports.format}`;

export const unfinishedPath = (directory: string, file: string): string => join(directory, `${file}${unfinished}`);

/** Renames a finished file. After an interruption before the manifest names it, it is made again under the same name. */
export async function keepPart(directory: string, file: string, rows: number, upTo: string): Promise<ExportPart> {
  const path = unfinishedPath(directory, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = statSync(path);
  renameSync(path, join(directory, file));
  return { file, rows, bytes: size, sha256: hash.digest('hex'), upTo };
}

/** @throws ExportError if another export has written to the directory since `before` was read */
export function writeExportManifest(directory: string, before: ExportManifest, manifest: ExportManifest): void {
  const there = readExportManifest(directory);
  if ((there?.parts.length ?? 0) !== before.parts.length)
    throw new ExportError(`another export writes to ${directory}: let it end, then run this one again`);
  const beside = `${pathOf(directory)}.${process.pid}${unfinished}`;
  writeFileSync(beside, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(beside, pathOf(directory));
}

export const rowsIn = ({ parts }: ExportManifest): number => parts.reduce((sum, { rows }) => sum + rows, 0);
