/** Starts a program of the sandbox as a child process that may outlive the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { childEnvironment } from '../src/process/system.ts';
import { openLog } from './logFile.ts';

export interface ProgramOptions {
  /** What it is, for whoever reads that it did not start: `the local Solana`. */
  readonly what: string;
  readonly program: string;
  /** 0 takes a free one; left out by a program that listens on none. */
  readonly port?: number;
  /** Beside the port. */
  readonly args: readonly string[];
  /** Receives its complaints; they go to this process's errors when left out. */
  readonly logFile?: string | undefined;
  /** Let it run on when this process ends: its pid must then be recorded by the caller. */
  readonly detached?: boolean | undefined;
}

export interface StartedProgram<Facts> {
  /** What it said when it was ready. */
  readonly facts: Facts;
  readonly pid: number;
  /** Lets it end in its own way. */
  stop(): Promise<void>;
}

/** Waits until the program says that it is ready, by one message. @throws Error when it ends before, with where to look */
export async function startProgram<Facts>(options: ProgramOptions): Promise<StartedProgram<Facts>> {
  const { what, program, port, args, logFile, detached = false } = options;
  const errors = logFile === undefined ? ('inherit' as const) : openLog(logFile);
  const child = spawn(
    process.execPath,
    [program, ...(port === undefined ? [] : ['--port', String(port)]), ...args, ...(detached ? ['--detached'] : [])],
    {
      detached,
      env: childEnvironment(),
      stdio: ['ignore', 'ignore', errors, 'ipc'],
    },
  );
  if (typeof errors === 'number') closeSync(errors);

  const ended = once(child, 'exit');
  const ready = await Promise.race([once(child, 'message'), ended.then(() => undefined)]);
  if (!ready || child.pid === undefined) {
    throw new Error(
      `${what} did not start${port ? ` on port ${port}` : ''}: ${logFile ? `see ${logFile}` : 'see what it said above'}`,
    );
  }
  if (detached) child.disconnect();
  child.unref();
  child.channel?.unref();
  return {
    facts: ready[0] as Facts,
    pid: child.pid,
    async stop() {
      child.ref();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
