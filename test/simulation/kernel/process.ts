/** Simulated processes of the service: whatever runs for one, runs in its name, and ends with it. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface SimulatedProcess {
  /** Its place and how often it was started there, such as `a.3`. */
  readonly name: string;
  alive: boolean;
  /** The server sides of what it holds open: they notice its end. */
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

/** It is gone at once: none of its promises goes on, and its servers see the connections break. */
export function endProcess(process: SimulatedProcess): void {
  if (!process.alive) return;
  process.alive = false;
  for (const ended of [...process.onEnd]) ended();
  process.onEnd.clear();
}

/** For what a process waits that has ended. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});
