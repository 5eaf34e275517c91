/** Simulated processes of the service: work of a process runs in its name, and ends with it. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface SimulatedProcess {
  /** Its place and how often it was started there, such as `a.3`. */
  readonly name: string;
  alive: boolean;
  /** Server sides of its connections: they notice its end. */
  readonly onEnd: Set<() => void>;
}

const current = new AsyncLocalStorage<SimulatedProcess | null>();

/** Null outside of all simulated processes. */
export const runningProcess = (): SimulatedProcess | null => current.getStore() ?? null;

/** Runs it in the name of the process, unless that has ended. */
export function runIn(process: SimulatedProcess | null, run: () => void): void {
  if (process?.alive === false) return;
  current.run(process, run);
}

/** Ends at once: none of its promises continues, and its servers see broken connections. */
export function endProcess(process: SimulatedProcess): void {
  if (!process.alive) return;
  process.alive = false;
  for (const ended of [...process.onEnd]) ended();
  process.onEnd.clear();
}

/** Result of a wait in a process that has ended. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
