/** A cluster of three nodes of the real EventStoreDB with TLS, for specs about users and their rights. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../sandbox/freePort.ts';
import { onStop } from './hooks.ts';
import { patience_ms } from './patience.ts';
import { processesOf } from './processTable.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export interface RealCluster {
  /** For EVENTSTORE_URL: every node, as the user admin. */
  readonly url: string;
}

/** The program that starts a node; the program that starts a cluster is beside it. Undefined on a machine without either. */
export const realEventStore = process.env['EVENTSTOREDB'];

const poll_ms = 250;

/** Starts the nodes and waits for a leader and two followers. @throws Error if they are not ready in time */
export async function startRealCluster(): Promise<RealCluster> {
  const folder = temporaryDirectory();
  const port = await freePort();
  const program = join(dirname(realEventStore ?? ''), 'cluster');
  const child = spawn(program, [folder, `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  onStop(() => stop(child, folder));
  const ready = Promise.withResolvers<void>();
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    if (printed.includes('esdb://')) ready.resolve();
  });
  child.once('exit', () => ready.reject(new Error('The cluster ended during its start.')));
  const late = setTimeout(() => ready.reject(new Error('The cluster has no leader.')), patience_ms);
  await ready.promise.finally(() => clearTimeout(late));
  const nodes = [0, 10, 20].map((offset) => `127.0.0.1:${port + offset}`);
  return { url: `esdb://admin:changeit@${nodes.join()}?tls=true&tlsCAFile=${join(folder, 'tls', 'ca', 'ca.crt')}` };
}

/** The program ends its nodes and does not wait for them. Their folder may be removed only when they have ended. */
async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  for (let waited_ms = 0; waited_ms < patience_ms; waited_ms += poll_ms) {
    if (processesOf(folder).length === 0) return;
    await sleep(poll_ms);
  }
  throw new Error('A node of the cluster did not end.');
}
