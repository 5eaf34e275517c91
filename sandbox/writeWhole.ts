import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step: a reader, also after a kill, finds either the old text or the new one. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, path);
}
