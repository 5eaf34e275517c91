import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onStop } from './hooks.ts';

/**
 * A separate directory for the caller, removed when the run ends. Readable by others: Postgres runs as another user if this process is
 * root.
 */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'payment-intents-'));
  chmodSync(directory, 0o755);
  onStop(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
