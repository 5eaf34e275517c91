/** Limits the thread of a validator that polls for transactions without a pause. On an idle chain it would use most of a processor. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const threadName = 'solBnkTxSched';
/** Control groups of processor time, version 1, accept single threads. Without them, or without root, the thread is not limited. */
const groups = '/sys/fs/cgroup/cpu';
const prefix = 'agave-scheduler-';
/** A tenth of one processor. The short period bounds the delay of a transaction to 18 ms. */
const period_us = 20_000;
const quota_us = 2_000;
const poll_ms = 100;
/** The thread exists when the validator answers, or soon after. */
const polls = 50;

/** @param pid of the validator */
export async function limitScheduler(pid: number): Promise<void> {
  removeEmptyGroups();
  const group = join(groups, `${prefix}${pid}`);
  try {
    mkdirSync(group, { recursive: false });
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(period_us));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota_us));
    for (let poll = 0; poll < polls; poll += 1) {
      const thread = threadsOf(pid).find((id) => nameOf(pid, id) === threadName);
      if (thread !== undefined) {
        writeFileSync(join(group, 'tasks'), thread);
        return;
      }
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
