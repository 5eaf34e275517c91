/** Replaces files that several programs, or several calls of one program, may replace at the same time. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

let drafts = 0;

/**
 * Replaces a file in one step: a reader, also after a kill, finds either the old content or the new one. The last of several writers
 * wins. Each writer has a temporary file of its own beside the file: with a shared one, the first rename takes the file of the second
 * writer, whose rename then fails.
 *
 * @param mode of a new file; the default lets only its owner read it
 * @param flush true waits until the content is on the disk
 */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o600, flush = false): void {
  drafts += 1;
  const draft = `${path}.${process.pid}.${threadId}.${drafts}.new`;
  // An earlier process of this id may have been killed here. `wx` never writes through a file or a link that somebody else put there.
  rmSync(draft, { force: true });
  try {
    writeFileSync(draft, content, { mode, flush, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
