/** Limits the threads of a validator that poll without need: on an idle chain they would use most of a processor. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
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
/** A twentieth of one processor for all of them. The short period bounds the delay of a transaction to 19 ms. */
const period_us = 20_000;
const quota_us = 1_000;
const poll_ms = 100;
/** The threads exist when the validator answers, or soon after. */
const polls = 50;

/** @param pid of the validator */
export async function limitPollingThreads(pid: number): Promise<void> {
  removeEmptyGroups();
  const group = join(groups, `${prefix}${pid}`);
  try {
    mkdirSync(group, { recursive: false });
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(period_us));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota_us));
    for (let poll = 0; poll < polls; poll += 1) {
      const threads = threadsOf(pid).filter((id) => threadNames.includes(nameOf(pid, id) ?? ''));
      for (const thread of threads) writeFileSync(join(group, 'tasks'), thread);
      if (threads.length === threadNames.length) return;
      await sleep(poll_ms);
    }
  } catch {
    // This machine has no such groups, or the validator has ended: its waiters notice that themselves.
  }
}

/** A group is empty once its validator has ended. */
function removeEmptyGroups(): void {
  for (const name of entries(groups)) {
    if (!name.startsWith(prefix)) continue;
    try {
      rmdirSync(join(groups, name));
    } catch {
      // Its validator runs, or another process has just removed the group.
    }
  }
}

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
