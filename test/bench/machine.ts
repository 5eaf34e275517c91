/** What a number was measured on: without it a number says nothing. */
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import type { Database } from '../../src/postgres/database.ts';

export async function machine(database: Database): Promise<string> {
  const [row] = await database.query<{ server_version: string }>('SHOW server_version');
  const [fsync] = await database.query<{ fsync: string }>('SHOW fsync');
  const memory_gib = Math.round(totalmem() / 2 ** 30);
  return [
    `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ${memory_gib} GiB`,
    `Node ${process.versions.node}, Postgres ${row?.server_version} (fsync ${fsync?.fsync})`,
    `load of the machine before: ${loadText()}`,
  ].join('\n');
}

/** Processes that want to run, over the last minute: above the number of cores the machine is shared. */
export const loadText = (): string => (loadavg()[0] ?? 0).toFixed(1);

const ticksPerSecond = 100;

/** CPU time that processes have used, their ended and running children included; NaN where the system does not tell it. */
export function cpuSeconds(pids: readonly number[]): number {
  const family = new Set(pids.flatMap((pid) => [pid, ...childrenOf(pid)]));
  return [...family].reduce((sum, pid) => sum + ticksOf(pid), 0) / ticksPerSecond;
}

/** Of a process alone, since it began; 0 when it has ended. */
export function ownCpuSeconds(pid: number): number {
  try {
    const [, , , , , , , , , , , user, system] = fieldsOf(pid);
    return (Number(user) + Number(system)) / ticksPerSecond;
  } catch {
    return 0;
  }
}

function ticksOf(pid: number): number {
  try {
    const [, , , , , , , , , , , user, system, endedUser, endedSystem] = fieldsOf(pid);
    return Number(user) + Number(system) + Number(endedUser) + Number(endedSystem);
  } catch {
    return process.platform === 'linux' ? 0 : Number.NaN;
  }
}

/** From the state on, behind the name, which may hold spaces and brackets. */
const fieldsOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];

/** Memory of a process, its part of what it shares with others; 0 for one that has ended, NaN where the system does not tell it. */
export function memory_MiB(pid: number): number {
  try {
    const [, kibibytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return process.platform === 'linux' ? 0 : Number.NaN;
  }
}

/** Memory that is a process's own: without what it has mapped of files. 0 for one that has ended, NaN where the system does not tell it. */
export function ownMemory_MiB(pid: number): number {
  try {
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return process.platform === 'linux' ? 0 : Number.NaN;
  }
}

/** Child processes that run now; none where the system does not tell them. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
