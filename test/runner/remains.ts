/** Remains of a run: processes with its folder in their environment, and files in its shards' directories. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const poll_ms = 100;
const ending_ms = 3_000;

/** Processes that were started in a folder, directly or indirectly: every process of a shard inherits its TMPDIR. */
export function processesIn(folder: string): readonly { readonly pid: number; readonly command: string }[] {
  const environments = processTable(process.platform === 'darwin' ? ['-AE', '-ww'] : ['axeww']);
  const pids = environments.filter(({ text }) => text.includes(`TMPDIR=${folder}/`)).map(({ pid }) => pid);
  if (pids.length === 0) return [];
  // Reads the command separately: an environment may contain secrets, and must not be printed.
  return processTable(['-A']).flatMap(({ pid, text }) => (pids.includes(pid) ? [{ pid, command: text }] : []));
}

function processTable(which: readonly string[]): readonly { readonly pid: number; readonly text: string }[] {
  const table = execFileSync('ps', [...which, '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  return [...table.matchAll(/^\s*(\d+)\s+(.*)$/gm)].map(([, pid, text = '']) => ({ pid: Number(pid), text }));
}

/** Sends SIGTERM to every process of a folder, and kills those that remain. */
export async function endProcessesIn(folder: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const { pid } of processesIn(folder)) signalTo(pid, signal);
    if (await haveEnded(folder)) return;
  }
}

/** True if no process of a folder is left, after a moment for processes that are ending. */
export async function haveEnded(folder: string): Promise<boolean> {
  const until_ms = performance.now() + ending_ms;
  while (processesIn(folder).length > 0) {
    if (performance.now() > until_ms) return false;
    await sleep(poll_ms);
  }
  return true;
}

/** Remaining files in the shards' directories. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((shard) => readdirSync(join(folder, shard)).map((name) => join(shard, name)));
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended meanwhile.
  }
}
