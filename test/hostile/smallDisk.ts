import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onStop } from '../support/hooks.ts';

/** A separate real file system, small enough to fill. */
export interface SmallDisk {
  readonly directory: string;
  /** Fills all remaining room. */
  fill(): void;
  empty(): void;
}

/** @returns null where file systems cannot be mounted: without the privilege, or on other systems than Linux */
export function mountSmallDisk(directory: string, size_bytes: number): SmallDisk | null {
  mkdirSync(directory, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size_bytes},mode=0755`, 'tmpfs', directory], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  onStop(() => execFileSync('umount', ['-l', directory]));
  const ballast = join(directory, 'ballast');
  return {
    directory,
    fill() {
      const { bavail, bsize } = statfsSync(directory);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    },
    empty: () => rmSync(ballast),
  };
}
