/** A small separate disk for one store, which can be filled. */
import { execFile } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Disk {
  readonly folder: string;
  /** Uses up the remaining space, to the last block. */
  fill(): void;
  /** Frees the space again. */
  clear(): void;
  remove(): Promise<void>;
}

const run = promisify(execFile);
const block_bytes = 64 * 1024;

/** A tmpfs of a size in MiB. @returns null if this user may not mount one: then no disk is filled, and the summary says so */
export async function smallDisk(folder: string, size_MiB: number): Promise<Disk | null> {
  mkdirSync(folder, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size_MiB}m,mode=0755`, 'tmpfs', folder]);
  } catch {
    return null;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const file = openSync(filler, 'a');
      try {
        const { bavail, bsize } = statfsSync(folder);
        for (let left = bavail * bsize; left > 0; left -= block_bytes)
          writeSync(file, Buffer.alloc(Math.min(left, block_bytes)));
      } catch {
        // Another writer has taken the last block: it is full.
      } finally {
        closeSync(file);
      }
    },
    clear: () => rmSync(filler, { force: true }),
    async remove() {
      await run('umount', ['-l', folder]);
    },
  };
}
