import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onStop } from './hooks.ts';

/** A directory of the caller's own, removed when the run ends. Others may look into it: Postgres runs as somebody else when we are root. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'payment-intents-'));
  chmodSync(directory, 0o755);
  onStop(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
