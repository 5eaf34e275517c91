/** Part of a log in a file: an event a line, in the log's order, compressed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { StoredEvent } from '../../domain/decider.ts';
import { BackupError, digestOf, type Segment } from './manifest.ts';

/** Held in memory at a time. */
export const segmentMax = 10_000;
const inflatedMax_bytes = 1024 * 1024 * 1024;

/** Named by what is in it, too: of two backups that run at once neither writes over what the other has named. */
export function writeSegment(directory: string, number: number, events: readonly StoredEvent[]): Segment {
  const lines = events.map((event) =>
    JSON.stringify(event, (_, part) => (typeof part === 'bigint' ? `${part}` : part)),
  );
  const bytes = gzipSync(`${lines.join('\n')}\n`);
  const sha256 = digestOf(bytes);
  const file = `log-${String(number).padStart(6, '0')}-${sha256.slice(0, 16)}.ndjson.gz`;
  writeFileSync(join(directory, file), bytes, { mode: 0o600, flush: true });
  const [first, last] = [events[0]?.position ?? 0n, events.at(-1)?.position ?? 0n];
  return { file, events: events.length, first: `${first}`, last: `${last}`, sha256 };
}

/** @throws BackupError when it is missing, or not as it was written */
export function readSegment(directory: string, { file, sha256, events }: Segment): readonly StoredEvent[] {
  const bytes = bytesOf(directory, file);
  if (digestOf(bytes) !== sha256)
    throw new BackupError(`${file} is not as it was written: restore from another backup, nothing was changed`);
  const lines = gunzipSync(bytes, { maxOutputLength: inflatedMax_bytes }).toString('utf8').split('\n').filter(Boolean);
  if (lines.length !== events) throw new BackupError(`${file} holds ${lines.length} events in place of ${events}`);
  return lines.map((line) => {
    const { revision, position, ...event } = JSON.parse(line) as Omit<StoredEvent, 'revision' | 'position'> & {
      readonly revision: string;
      readonly position: string;
    };
    return { ...event, revision: BigInt(revision), position: BigInt(position) };
  });
}

function bytesOf(directory: string, file: string): Buffer {
  try {
    return readFileSync(join(directory, file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BackupError(`${file} cannot be read (${code}): the backup is not whole, restore from another one`);
  }
}
