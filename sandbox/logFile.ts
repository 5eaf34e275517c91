import { openSync, renameSync, statSync } from 'node:fs';

const bytesMax = 4 * 2 ** 20;

/**
 * Opens a program's log to append to. A large log is first renamed to `.old`, which replaces an older one. Programs of
 * the sandbox log only errors, so no log grows large during a run.
 * @returns its descriptor
 */
export function openLog(file: string): number {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > bytesMax) renameSync(file, `${file}.old`);
  return openSync(file, 'a');
}
