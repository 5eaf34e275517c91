import { setPriority } from 'node:os';

/** Weighs a third of the others to the scheduler of Linux. */
const niceness = 5;

/**
 * Lowers the priority of a process and of its later children. For specs that only compute: services in specs of whole
 * worlds have deadlines, and leave the processor idle most of the time.
 */
export function letOthersFirst(pid: number | undefined): void {
  if (pid !== undefined) setPriority(pid, niceness);
}
