/** A sealed file takes the place of the one before. */
import { existsSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Written beside it first: a stop half-way leaves the old one whole. Where the path is a link, the file that it leads to is replaced: else the
 * old keys would stay behind it. What lies where it is written beside is taken away, never written through.
 */
export function replaceSealed(path: string, text: string): void {
  const file = existsSync(path) ? realpathSync(path) : path;
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  writeFileSync(beside, text, { mode: 0o600, flush: true, flag: 'wx' });
  renameSync(beside, file);
}
