/** Limits the threads of a validator that poll without need: on an idle chain they would use most of a processor. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The first polls for transactions without a pause, the second for votes. The third polls a thousand times a second for blocks that other
 * validators have.
 */
const threadNames: readonly string[] = ['solBnkTxSched', 'solBanknStgVote', 'solRepairSvc'];
/** Control groups of processor time, version 1, accept single threads. Without them, or without root, the threads are not limited. */
const groups = '/sys/fs/cgroup/cpu';
const prefix = 'agave-scheduler-';
/** A fiftieth of one processor for all of them. The period bounds the delay of a transaction to 49 ms. */
const period_us = 50_000;
const quota_us = 1_000;
const poll_ms = 100;
/** The threads exist when the validator answers, or soon after. */
const polls = 200;

/** Returns when the threads are limited, the validator has ended, or the machine limits none. @param pid of the validator */
export async function limitPollingThreads(pid: number): Promise<void> {
  removeOldGroups();
  for (let poll = 0; poll < polls && isAlive(pid); poll += 1) {
    const threads = threadsOf(pid).filter((id) => threadNames.includes(nameOf(pid, id) ?? ''));
    const limited = limit(pid, threads);
    if (limited === 'never' || (limited === 'all' && threads.length === threadNames.length)) return;
    await sleep(poll_ms);
  }
}

/** `some`: a thread or the group has gone meanwhile. */
function limit(pid: number, threads: readonly string[]): 'all' | 'some' | 'never' {
  const group = join(groups, `${prefix}${pid}`);
  try {
    mkdirSync(group);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return 'never';
  }
  try {
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(period_us));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota_us));
    for (const thread of threads) writeFileSync(join(group, 'tasks'), thread);
    return 'all';
  } catch (error) {
    return codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH' ? 'some' : 'never';
  }
}

/** Removes the groups of validators that have ended. A young group is empty, too, until its validator has the threads. */
function removeOldGroups(): void {
  for (const name of entries(groups)) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length)))) continue;
    try {
      rmdirSync(join(groups, name));
    } catch {
      // A validator of another container has this process id, or another process has just removed the group.
    }
  }
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

const threadsOf = (pid: number): readonly string[] => entries(`/proc/${pid}/task`);

function nameOf(pid: number, thread: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
