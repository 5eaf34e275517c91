import { setPriority } from 'node:os';

/** Weighs a third of the others to the scheduler of Linux. */
const niceness = 5;

/**
 * A process, and those that it starts from now on, work when others need no processor. For specs that only compute: those of a whole
 * world wait for services which keep deadlines of their own, and what they leave free is most of the time.
 */
export function letOthersFirst(pid: number | undefined): void {
  if (pid !== undefined) setPriority(pid, niceness);
}
