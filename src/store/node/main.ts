/**
 * The embedded node as a child process of the service (spawn.ts). It tells its parent over the IPC channel when it is ready,
 * and ends when that channel closes, however the parent ended.
 */

import { Damaged } from './environment.ts';
import { DirectoryInUse, directoryInUseExitCode } from './lock.ts';
import { type EventStoreNode, startNode } from './node.ts';
import type { NodeMessage } from './spawn.ts';
import type { Trouble } from './trouble.ts';

const [dataDir = '', port = '', patience_ms = '0'] = process.argv.slice(2);

// What it writes is its user's alone.
process.umask(0o077);

// Whoever stops a service may signal all of its processes; the parent must still be able to finish its appends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const say = (message: NodeMessage): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

/** Whatever is asked means: are you there? */
process.on('message', () => void say({ kind: 'alive' }));

/** Troubles of the start go with the message that the node is ready: the parent accepts none before. */
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
