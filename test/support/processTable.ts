import { execFileSync } from 'node:child_process';
import { onStop } from './hooks.ts';

/** The processes that have a text, such as a data directory, in their command line. */
export function processesOf(text: string): readonly { readonly pid: number; readonly command: string }[] {
  const table = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,stat=,args='], { encoding: 'utf8' });
  return table.split('\n').flatMap((line) => {
    const [, pid, stat, command = ''] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    const dead = stat?.startsWith('Z') ?? true;
    return dead || !command.includes(text) ? [] : [{ pid: Number(pid), command }];
  });
}

/** A process and all of its descendants. */
export function familyOf(pid: number): readonly number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const parents = table.split('\n').map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const family = [pid];
  for (const member of family)
    family.push(...parents.filter(([, parent]) => parent === member).map(([child]) => child));
  return family;
}

/** Freezes processes, like a machine that hangs. @returns function that resumes them; also called at the run's end */
export function freeze(pids: readonly number[]): () => void {
  const frozen = new Set(pids);
  const thaw = () => {
    for (const pid of frozen) {
      frozen.delete(pid);
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // Ended already.
      }
    }
  };
  onStop(thaw);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return thaw;
}
