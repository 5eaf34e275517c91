/**
 * The embedded node as a child process of the service (spawn.ts). It tells its parent over the IPC channel when it is ready,
 * and ends when that channel closes, however the parent ended.
 */
import { DirectoryInUse, directoryInUseExitCode } from './lock.ts';
import { type EventStoreNode, startNode } from './node.ts';
import type { NodeMessage } from './spawn.ts';

const [dataDir = '', port = '0', patience_ms = '0'] = process.argv.slice(2);

// Whoever stops a service may signal all of its processes; the parent must still be able to finish its appends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const report = (failure: unknown): void => {
  process.stderr.write(`event store: ${failure instanceof Error ? failure.stack : failure}\n`);
};

const tell = (message: NodeMessage): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

async function end(node: EventStoreNode): Promise<void> {
  await node.close();
  process.exit();
}

try {
  const node = await startNode({ dataDir, port: Number(port), patience_ms: Number(patience_ms), report });
  process.on('disconnect', () => end(node));
  if (!process.connected) await end(node);
  await tell({ kind: 'ready', url: node.url, port: node.port });
} catch (error) {
  const inUse = error instanceof DirectoryInUse;
  const message = error instanceof Error ? error.message : String(error);
  await tell({ kind: inUse ? 'directoryInUse' : 'failed', message });
  process.exit(inUse ? directoryInUseExitCode : 1);
}
