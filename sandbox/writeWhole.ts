import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step: a reader, also after a kill, finds either the old content or the new one. */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o600): void {
  const draft = `${path}.new`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, path);
}
