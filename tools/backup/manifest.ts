/** What a backup's directory says of itself: which segments of the log it holds, in order, and their digests. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import { closed, Digest, Text, Time } from '../../domain/schema.ts';

const format = 'payment-intents backup 1';
const Count = Type.Integer({ minimum: 0 });
const Position = Type.String({ pattern: '^[0-9]{1,20}$' });

const Manifest = Type.Object(
  {
    format: Type.Literal(format),
    /** When the last segment was added. */
    madeAt: Time,
    segments: Type.Array(
      Type.Object({ file: Text(64), events: Count, first: Position, last: Position, sha256: Digest }, closed),
      { maxItems: 100_000 },
    ),
  },
  closed,
);
export type Manifest = Static<typeof Manifest>;
export type Segment = Manifest['segments'][number];

/** A backup that cannot be used. The message says why. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

const pathOf = (directory: string): string => join(directory, 'backup.json');

export const emptyManifest = (madeAt: Manifest['madeAt']): Manifest => ({ format, madeAt, segments: [] });

/** Undefined where the directory has none. @throws BackupError for one that is not ours */
export function readManifest(directory: string): Manifest | undefined {
  if (!existsSync(pathOf(directory))) return undefined;
  try {
    const manifest: unknown = JSON.parse(readFileSync(pathOf(directory), 'utf8'));
    if (Value.Check(Manifest, manifest)) return manifest;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new BackupError(`${pathOf(directory)} is no backup of this program: name another directory`);
}

/** Beside it first, by each process in a file of its own: a stop half-way leaves the one before, and a segment that it does not name. */
export function writeManifest(directory: string, manifest: Manifest): void {
  const beside = `${pathOf(directory)}.${process.pid}.new`;
  writeFileSync(beside, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(beside, pathOf(directory));
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const eventsIn = ({ segments }: Manifest): number => segments.reduce((sum, { events }) => sum + events, 0);
