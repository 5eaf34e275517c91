import { renameSync, writeFileSync } from 'node:fs';

/** Replaces a file in one step: whoever reads it meanwhile, or after a kill in between, finds the old text or the new one. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, path);
}
