/**
 * The embedded node as a child process of the service (spawn.ts). It reports over the IPC channel when it is ready, and ends when that
 * channel closes, however the parent ended.
 */

import { Damaged } from './environment.ts';
import { DirectoryInUse, directoryInUseExitCode } from './lock.ts';
import { type EventStoreNode, startNode } from './node.ts';
import type { NodeMessage } from './spawn.ts';
import type { Trouble } from './trouble.ts';

const [dataDir = '', port = '', patience_ms = '0'] = process.argv.slice(2);

// Its files are readable only by its user.
process.umask(0o077);

// A stop of a service may signal all of its processes; the parent must still be able to finish its appends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const say = (message: NodeMessage): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

/** Any message is a liveness check. */
process.on('message', () => void say({ kind: 'alive' }));

/** Problems of the start are sent with the ready message: the parent accepts none before. */
let early: Trouble[] | null = [];

async function tell(trouble: Trouble): Promise<void> {
  if (early) {
    early.push(trouble);
    return;
  }
  await say({ kind: 'trouble', trouble });
  if (trouble.kind === 'broken') process.exit(1);
}

async function end(node: EventStoreNode): Promise<void> {
  await node.close();
  process.exit();
}

try {
  const node = await startNode({
    dataDir,
    ...(port !== '' && { port: Number(port) }),
    patience_ms: Number(patience_ms),
    tell,
  });
  process.on('disconnect', () => end(node));
  if (!process.connected) await end(node);
  const troubles = early;
  early = null;
  await say({ kind: 'ready', url: node.url, port: node.port, troubles });
} catch (error) {
  const code = error instanceof DirectoryInUse ? 'directoryInUse' : error instanceof Damaged ? 'damaged' : 'failed';
  await say({ kind: 'notStarted', code, message: error instanceof Error ? error.message : String(error) });
  process.exit(code === 'directoryInUse' ? directoryInUseExitCode : 1);
}
