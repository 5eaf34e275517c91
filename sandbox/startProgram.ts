/** Starts a program of the sandbox as a child process that may outlive the one that started it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { childEnvironment } from '../src/process/system.ts';
import { openLog } from './logFile.ts';

export interface ProgramOptions {
  /** Name in error messages: `the local Solana`. */
  readonly what: string;
  readonly program: string;
  /** 0 chooses a free one; omitted by a program without a port. */
  readonly port?: number;
  /** Arguments in addition to the port. */
  readonly args: readonly string[];
  /** Receives its errors. Default: this process's errors. */
  readonly logFile?: string | undefined;
  /** Keeps it running when this process ends: the caller must then record its pid. */
  readonly detached?: boolean | undefined;
}

export interface StartedProgram<Facts> {
  /** Content of its ready message. */
  readonly facts: Facts;
  readonly pid: number;
  /** Ends it with its own signal. */
  stop(): Promise<void>;
}

/** Waits for the program's ready message. @throws Error with the log file if it ends before */
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
