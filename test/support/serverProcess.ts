/** A server in a process of its own, which a spec can kill, freeze and start again on the same data. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onStop } from './hooks.ts';
import { patience_ms } from './patience.ts';

export interface ServerProcess {
  /** Starts the process, unless it runs, and does not wait for it. */
  launch(): void;
  /** As `launch`, and resolves when the process is ready. @throws Error if it ends permanently before */
  start(): Promise<void>;
  /** Sends SIGTERM and resolves when the process has ended. */
  stop(): Promise<void>;
  /** Sends SIGKILL and resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: the process keeps its connections and answers nothing until `thaw`. */
  freeze(): void;
  /** Sends SIGCONT. */
  thaw(): void;
}

export interface ServerOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Receives all that the process prints. */
  readonly logFile: string;
  readonly isReady: () => Promise<boolean>;
  /** Maximum restarts after an unexpected end. Default: none. */
  readonly restartsMax?: number;
}

const poll_ms = 50;
/** Characters of the log that a failed start quotes. */
const quotedMax = 2_000;

/** Defines the server; nothing runs before `start`. It is killed when the run ends. */
export function createServerProcess(options: ServerOptions): ServerProcess {
  const { program, args, env, logFile, isReady, restartsMax = 0 } = options;
  let child: ChildProcess | undefined;
  let restarts = 0;
  let ending = false;
  const isAlive = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const quote = () => readFileSync(logFile, 'utf8').slice(-quotedMax);

  function spawnOnce(): void {
    const log = openSync(logFile, 'a');
    const launched = spawn(program, args, { env, stdio: ['ignore', log, log] });
    closeSync(log);
    child = launched;
    launched.once('exit', () => {
      if (ending || restarts >= restartsMax) return;
      restarts += 1;
      spawnOnce();
    });
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    ending = true;
    if (!child || !isAlive()) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  const server: ServerProcess = {
    launch() {
      if (isAlive()) return;
      [ending, restarts] = [false, 0];
      spawnOnce();
    },
    async start() {
      server.launch();
      for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; await sleep(poll_ms)) {
        if (!isAlive()) throw new Error(`${program} ended before it was ready:\n${quote()}`);
        if (await isReady()) return;
      }
      throw new Error(`${program} was not ready within ${patience_ms} ms:\n${quote()}`);
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
  onStop(server.kill);
  return server;
}
