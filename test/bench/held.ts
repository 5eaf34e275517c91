/** Limits a process to a share of one processor, so that its throughput does not depend on other load. Requires Linux and root. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const period_us = 20_000;
const controllers = '/sys/fs/cgroup';

/** @param share of one processor, such as 0.2 @returns a function to call after the process has ended @throws Error if no cgroup can be created */
export function holdTo(pid: number, share: number): () => void {
  const quota_us = Math.round(period_us * share);
  const name = `payment-intents-bench-${pid}`;
  const first = join(controllers, 'cpu');
  const group = join(existsSync(first) ? first : controllers, name);
  mkdirSync(group);
  if (existsSync(first)) {
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(period_us));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota_us));
  } else writeFileSync(join(group, 'cpu.max'), `${quota_us} ${period_us}`);
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
  return () => rmdirSync(group);
}
