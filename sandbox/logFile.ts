import { openSync, renameSync, statSync } from 'node:fs';

const bytesMax = 4 * 2 ** 20;

/**
 * Opens a program's log to append to. One that has grown large is set aside as `.old` first, and with it an older one is
 * gone. Programs here only log what went wrong, so that none grows large while it runs.
 * @returns its descriptor
 */
export function openLog(file: string): number {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > bytesMax) renameSync(file, `${file}.old`);
  return openSync(file, 'a');
}
