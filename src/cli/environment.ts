import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnvFile } from 'node:process';

/**
 * The settings of the service beside which a tool runs: what is set already, then `.env`, then what a service that runs
 * on the data directory has left there.
 */
export function loadEnvironment(): void {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  for (const file of ['.env', join(dataDir, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
}
