/** One insecure node of the real EventStoreDB on a free port, started by the program that EVENTSTOREDB names. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../sandbox/freePort.ts';
import type { EmbeddedNode } from '../../src/store/node/spawn.ts';

const start_ms = 60_000;
const poll_ms = 250;
/** A node that does not end on SIGTERM within this time is killed. */
const stop_ms = 20_000;

/** @throws Error if EVENTSTOREDB is not set, or if the node has no leader within 60 s */
export async function startRealEventStore({ dataDir }: { readonly dataDir: string }): Promise<EmbeddedNode> {
  const program = process.env['EVENTSTOREDB'];
  if (!program) throw new Error('Set EVENTSTOREDB to a program that starts EventStoreDB: <program> <port> <folder>.');
  const [port, replicationPort] = [await freePort(), await freePort()];
  const args = [`${port}`, dataDir, `--replication-port=${replicationPort}`, '--chunk-size=33554432'];
  const child = spawn(program, args, { stdio: 'ignore' });
  try {
    await leading(child, port);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return { url: `esdb://127.0.0.1:${port}?tls=false`, pid: child.pid ?? 0, stop: () => stop(child) };
}

async function leading(child: ChildProcess, port: number): Promise<void> {
  for (let waited_ms = 0; waited_ms < start_ms; waited_ms += poll_ms) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('EventStoreDB ended during its start.');
    const gossip = await fetch(`http://127.0.0.1:${port}/gossip`, { signal: AbortSignal.timeout(poll_ms) })
      .then((answer) => answer.text())
      .catch(() => '');
    if (gossip.includes('"Leader"')) return;
    await sleep(poll_ms);
  }
  throw new Error(`EventStoreDB has no leader after ${start_ms / 1_000} s.`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), stop_ms);
  await ended;
  clearTimeout(late);
}
