/** Read models of the sandbox that another version of this program filled. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ProjectionOutdated, readActive } from '../projections/generations.ts';
import { projectionSets } from '../projections/sets.ts';
import { openDatabase } from '../src/postgres/database.ts';

const rebuildProgram = fileURLToPath(new URL('../tools/rebuild.ts', import.meta.url));

/**
 * Rebuilds each outdated set beside the running service, which continues it. After a crash the next start rebuilds again.
 * @throws Error if a rebuild fails
 */
export async function rebuildOutdated(dataDir: string, databaseUrl: string): Promise<void> {
  for (const set of await outdatedSets(databaseUrl)) {
    console.log(`  Another version filled the read models "${set}": they are rebuilt from the event log.`);
    const program = spawn(process.execPath, [rebuildProgram, '--set', set, '--data', dataDir], { stdio: 'inherit' });
    const [code] = (await once(program, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`npm run rebuild -- --set ${set} ended with ${code}: its output says why`);
  }
}

async function outdatedSets(databaseUrl: string): Promise<readonly string[]> {
  const database = openDatabase({ url: databaseUrl, applicationName: 'outdated', connectionsMax: 1 });
  const outdated: string[] = [];
  try {
    for (const set of projectionSets) {
      await readActive(database, set).catch((error: unknown) => {
        if (!(error instanceof ProjectionOutdated)) throw error;
        outdated.push(set.name);
      });
    }
    return outdated;
  } finally {
    await database.close();
  }
}
