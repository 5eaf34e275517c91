/** What the directory of an export says of itself: what is exported, which files are whole, and up to where. */
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

/** What an export is of. Another one takes another directory. */
const Exported = Type.Object(
  {
    subject: oneOf(subjects),
    format: oneOf(formats),
    /** period: rows whose time lies in it. log: what has changed since a position, kept up to date. */
    by: oneOf(['period', 'log']),
    from: nullable(Text(24)),
    to: nullable(Text(24)),
    /** Position in the log behind which it begins; null for the first event. */
    after: nullable(Position),
  },
  closed,
);
export type Exported = Static<typeof Exported>;

const Manifest = Type.Object(
  {
    format: Type.Literal(format),
    exports: Exported,
    /** Whether there is nothing more to come. An export by log never is complete. */
    complete: Type.Boolean(),
    /** All up to here is in the parts: a position in the log, or the key of a row. */
    upTo: nullable(Text(1_000)),
    /** An event of the log that is exported: another log is not gone on with. Of an export by log alone. */
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
export type Manifest = Static<typeof Manifest>;
export type Part = Manifest['parts'][number];

/** A directory that this export cannot go on in. The message says why. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

const pathOf = (directory: string): string => join(directory, 'manifest.json');

/**
 * What the directory holds of this export; an empty one is made where it holds nothing. Files that were not finished are removed.
 * @throws ExportError when it holds another export
 */
export function openManifest(directory: string, exports: Exported): Manifest {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const file of readdirSync(directory)) if (file.endsWith(unfinished)) rmSync(join(directory, file));
  const found = readManifest(directory);
  if (!found) return { format, exports, complete: false, upTo: exports.after, parts: [] };
  if (Value.Equal(found.exports, exports)) return found;
  throw new ExportError(
    `${directory} holds another export (${JSON.stringify(found.exports)}): ask for the same, or name another directory with --out`,
  );
}

/** Undefined where the directory has none. @throws ExportError for one that is not ours */
export function readManifest(directory: string): Manifest | undefined {
  if (!existsSync(pathOf(directory))) return undefined;
  try {
    const manifest: unknown = JSON.parse(readFileSync(pathOf(directory), 'utf8'));
    if (Value.Check(Manifest, manifest)) return manifest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ExportError(`${pathOf(directory)} is no manifest of this program: name another directory with --out`);
}

const unfinished = '.unfinished';

export const nextFile = ({ exports, parts }: Manifest): string =>
  `${exports.subject}-${String(parts.length + 1).padStart(6, '0')}.${exports.format}`;

export const unfinishedPath = (directory: string, file: string): string => join(directory, `${file}${unfinished}`);

/** Gives a finished file its name. A stop before the manifest names it leaves it to be made again, under the same name. */
export async function keepPart(directory: string, file: string, rows: number, upTo: string): Promise<Part> {
  const path = unfinishedPath(directory, file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  const { size } = statSync(path);
  renameSync(path, join(directory, file));
  return { file, rows, bytes: size, sha256: hash.digest('hex'), upTo };
}

/** @throws ExportError when another export has written to the directory since `before` was read */
export function writeManifest(directory: string, before: Manifest, manifest: Manifest): void {
  const there = readManifest(directory);
  if ((there?.parts.length ?? 0) !== before.parts.length)
    throw new ExportError(`another export writes to ${directory}: let it end, then run this one again`);
  const beside = `${pathOf(directory)}.${process.pid}${unfinished}`;
  writeFileSync(beside, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(beside, pathOf(directory));
}

export const rowsIn = ({ parts }: Manifest): number => parts.reduce((sum, { rows }) => sum + rows, 0);
