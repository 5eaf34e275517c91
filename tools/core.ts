/** What a tool of the operator stands on: the settings of the service beside it, and for most the service's core. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadEnvFile } from 'node:process';
import { type Config, readConfig } from '../src/config.ts';
import { type Core, openCore } from '../src/core.ts';
import { systemClock } from '../src/process/system.ts';

/**
 * What is set already, then `.env`, then what a service that runs on the data directory has left there.
 * @throws ConfigError
 */
export function readEnvironment(): Config {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  for (const file of ['.env', join(dataDir, 'service.env')]) if (existsSync(file)) loadEnvFile(file);
  return readConfig(process.env);
}

/** Opens the core for one piece of work and closes it, however the work ends. */
export async function withCore<T>(work: (core: Core) => Promise<T>): Promise<T> {
  const core = await openCore(readEnvironment(), systemClock);
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}
