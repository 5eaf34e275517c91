/** The operator's own audit as a process of its own, which takes neither memory nor time of the service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../commands/ports.ts';
import { type LastAudit, readLast } from './last.ts';

export interface AuditToolDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Of the audit's files. */
  readonly directory: string;
  /** What runs. */
  readonly program?: string;
}

const auditProgram = fileURLToPath(new URL('../../../tools/audit.ts', import.meta.url));
/** Of what it complains about. */
const saidMost = 2_000;
/** Whoever does not end so soon after he was asked is killed. */
const grace_ms = 10_000;

/**
 * Exit codes alone are not believed: a program that dies early has some, too. What counts is that it left another outcome than was there.
 *
 * @returns when its process has ended, also after `signal`. @throws Error with its last words when it left no outcome
 */
export async function runAuditTool(
  { clock, directory, program = auditProgram }: AuditToolDeps,
  signal: AbortSignal,
): Promise<LastAudit> {
  signal.throwIfAborted();
  const before = readLast(directory);
  const child = spawn(process.execPath, [...process.execArgv, program, '--quiet', '--directory', directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-saidMost);
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const over = new AbortController();
  const ask = () => void endOf(child, clock, over.signal);
  signal.addEventListener('abort', ask, { once: true });
  const [code] = await ended.finally(() => {
    over.abort();
    signal.removeEventListener('abort', ask);
  });
  signal.throwIfAborted();
  const left = readLast(directory);
  if ((code === 0 || code === 1 || code === 2) && left && left.at !== before?.at) return left;
  throw new Error(said.trim() || `it ended with code ${code} and left no outcome in ${directory}`);
}

async function endOf(child: ChildProcess, clock: Pick<Clock, 'sleep'>, over: AbortSignal): Promise<void> {
  child.kill('SIGTERM');
  await clock.sleep(grace_ms, over);
  if (!over.aborted) child.kill('SIGKILL');
}
