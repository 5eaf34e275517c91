/** One node of the real EventStoreDB, where EVENTSTOREDB names the program that starts it. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../sandbox/freePort.ts';
import { childEnvironment } from '../../src/process/system.ts';
import { createServerProcess, type ServerProcess } from './serverProcess.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface RealEventStore extends ServerProcess {
  /** For EVENTSTORE_URL; the same after each start. */
  readonly url: string;
  /** Kills the node and removes its log: the next start has an empty one. */
  lose(): Promise<void>;
}

const program = process.env['EVENTSTOREDB'] || undefined;
const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/** Describes specs that need the real EventStoreDB. Without it each of them counts as skipped. */
export const describeOnRealStore: typeof describe.skip = (title, body) => {
  const named = `${title}, on the real EventStoreDB`;
  return program === undefined ? describe.skip(named, body) : describe(named, body);
};

/** Path of the named program. @throws Error when EVENTSTOREDB is not set */
export function realStoreProgram(): string {
  if (program === undefined) throw new Error('EVENTSTOREDB must name the program that starts the real EventStoreDB');
  mkdirSync(cache, { recursive: true });
  return program;
}

/**
 * Settings of the server's runtime. A node lives for seconds or minutes here: code that counts its calls or waits in loops costs more
 * processor time than it saves. The number is hexadecimal.
 */
const shortLife = {
  DOTNET_TieredPGO: '0',
  DOTNET_TC_CallCountThreshold: '200',
  DOTNET_ThreadPool_UnfairSemaphoreSpinLimit: '0',
};

/** The server reads variables that begin with EVENTSTORE_ as its own options. All shards use one unpacked copy of the server. */
export const realStoreEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(childEnvironment()).filter(([name]) => !name.startsWith('EVENTSTORE_'))),
  ...shortLife,
  EVENTSTOREDB_HOME: join(cache, 'eventstoredb'),
});

/** Starts one insecure node on an empty folder. `start` after `stop` or `kill` uses the same folder and port. */
export async function startRealEventStore(): Promise<RealEventStore> {
  const folder = temporaryDirectory();
  const [port, replicationPort] = [await freePort(), await freePort()];
  const server = createServerProcess({
    program: realStoreProgram(),
    args: [`${port}`, folder, `--replication-port=${replicationPort}`, '--chunk-size=33554432'],
    env: realStoreEnvironment(),
    logFile: join(folder, 'server.log'),
    isReady: () => isLeader(port),
  });
  await server.start();
  return {
    ...server,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    async lose() {
      await server.kill();
      rmSync(join(folder, 'db'), { recursive: true });
    },
  };
}

async function isLeader(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/gossip`);
    return answer.ok && (await answer.text()).includes('"Leader"');
  } catch {
    return false;
  }
}

/** Describes specs of a world whose log is on a node of its own, which has an empty log before them. */
export function describeWorldOnRealStore(title: string, body: (url: () => string, node: () => RealEventStore) => void) {
  describeOnRealStore(title, () => {
    let started: RealEventStore | undefined;
    const node = () => started ?? assert.fail('the event store has not been started');
    before(async () => {
      started = await startRealEventStore();
    });
    after(() => started?.stop());
    body(() => node().url, node);
  });
}
