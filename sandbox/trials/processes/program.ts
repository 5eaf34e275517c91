/** A program that is killed, frozen and started again, and that is restarted like by a supervisor when it ends unasked. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Program {
  readonly pid: () => number | undefined;
  /** Number of starts. */
  readonly starts: () => number;
  start(): void;
  /** Ends it now, and restarts it only on request. */
  down(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

export interface ProgramOptions {
  /** Arguments after `node`. */
  readonly args: readonly string[];
  /** Called at each start. */
  readonly env: () => NodeJS.ProcessEnv;
  readonly logFile: string;
}

const restartPause_ms = 700;

export function supervised({ args, env, logFile }: ProgramOptions): Program {
  let child: ChildProcess | undefined;
  let wanted = false;
  let starts = 0;

  function launch(): void {
    if (!wanted || (child && isAlive(child))) return;
    const log = openSync(logFile, 'a');
    const started = spawn(process.execPath, [...args], { env: env(), stdio: ['ignore', log, log] });
    closeSync(log);
    child = started;
    starts += 1;
    started.once('exit', async () => {
      await sleep(restartPause_ms);
      launch();
    });
  }

  return {
    pid: () => (child && isAlive(child) ? child.pid : undefined),
    starts: () => starts,
    start() {
      wanted = true;
      launch();
    },
    async down(signal) {
      wanted = false;
      if (!child || !isAlive(child)) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

/** Freezes processes. @returns function that resumes them */
export function freeze(pids: readonly number[]): () => void {
  const send = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // Ended already.
      }
    }
  };
  send('SIGSTOP');
  return () => send('SIGCONT');
}
