/** The machine of a measurement: a number means nothing without it. */
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

/** Average runnable processes during the last minute. More than the number of cores: the machine is shared. */
export const loadText = (): string => (loadavg()[0] ?? 0).toFixed(1);

const ticksPerSecond = 100;

/** Processor time of processes, including their ended and running children; NaN if the system does not report it. */
export function cpuSeconds(pids: readonly number[]): number {
  const family = new Set(pids.flatMap((pid) => [pid, ...childrenOf(pid)]));
  return [...family].reduce((sum, pid) => sum + ticksOf(pid), 0) / ticksPerSecond;
}

/** Processor time of one process since its start; 0 after its end. */
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

/** Fields from the state on, behind the name, which may contain spaces and brackets. */
const fieldsOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? [];

/** Memory of a process, with its part of shared memory; 0 after its end, NaN if the system does not report it. */
export function memory_MiB(pid: number): number {
  try {
    const [, kibibytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return process.platform === 'linux' ? 0 : Number.NaN;
  }
}

/** Memory of a process without mapped files; 0 after its end, NaN if the system does not report it. */
export function ownMemory_MiB(pid: number): number {
  try {
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return process.platform === 'linux' ? 0 : Number.NaN;
  }
}

/** Running child processes; empty if the system does not report them. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
