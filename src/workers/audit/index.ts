/** The role `audit`: runs the operator's own tool once a night, and reports its findings. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../commands/ports.ts';
import type { Core } from '../../core.ts';
import type { Leases } from '../../postgres/leases.ts';
import { auditDirectory, type LastAudit, readLast, runNightly } from './nightly.ts';

// The operator's audit in a separate process, so the service keeps its memory and processor.

export interface AuditToolDeps {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Directory of the audit's files. */
  readonly directory: string;
  /** Program to run. */
  readonly program?: string;
}

const auditProgram = fileURLToPath(new URL('../../../tools/audit.ts', import.meta.url));
/** Maximum characters of its errors. */
const saidMost = 2_000;
/** Time between the request to end and the kill. */
const grace_ms = 10_000;

/**
 * Exit codes alone are not trusted: a program that dies early has one too. The proof is a new outcome file.
 *
 * @returns after its process has ended, also after `signal`. @throws Error with its last output if it left no outcome
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

export interface NightlyAuditDeps extends Pick<Core, 'clock' | 'telemetry'> {
  readonly leases: Pick<Leases, 'hold'>;
  readonly config: Pick<Core['config'], 'dataDir' | 'auditAt'>;
  /** Replaces the operator's tool. */
  readonly program?: string;
}

/** One active instance; resolves when the signal has aborted and its process has ended. */
export async function runNightlyAudit(
  { leases, clock, config, telemetry, program }: NightlyAuditDeps,
  signal: AbortSignal,
): Promise<void> {
  const directory = auditDirectory(config.dataDir);
  const tool = { clock, directory, ...(program !== undefined && { program }) };
  const deps = {
    clock,
    at: config.auditAt,
    last: () => readLast(directory),
    audit: (until: AbortSignal) => runAuditTool(tool, until),
    tell: tellBy(telemetry),
  };
  await leases.hold('audit', signal, (held) => runNightly(deps, held));
}

const tellBy = (telemetry: Core['telemetry']): Parameters<typeof runNightly>[0]['tell'] => ({
  standing(age_ms, last) {
    telemetry.auditAge.set(age_ms / 1_000);
    telemetry.auditFindings.set(last?.findings ?? 0);
    telemetry.auditGaps.set(last?.gaps ?? 0);
  },
  found: ({ findings, told }) =>
    telemetry.alarm('auditFailed', { findings }, `log, chains and read models differ: ${told.join('; ')}`),
  failed: (error) => telemetry.alarm('auditStopped', {}, `the audit did not finish: ${(error as Error).message}`),
  stale: (age_ms) =>
    telemetry.alarm('auditStale', { hours: Math.round(age_ms / 3_600_000) }, 'no audit has finished for too long'),
});
