/** The role `audit`: once a night the operator's own tool runs, and what it found is told. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../commands/ports.ts';
import type { Core } from '../../core.ts';
import type { Leases } from '../../postgres/leases.ts';
import { auditDirectory, type LastAudit, readLast, runNightly } from './nightly.ts';

// The operator's own audit as a process of its own, which takes neither memory nor time of the service.

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

export interface NightlyAuditDeps extends Pick<Core, 'clock' | 'telemetry'> {
  readonly leases: Pick<Leases, 'hold'>;
  readonly config: Pick<Core['config'], 'dataDir' | 'auditAt'>;
  /** What runs in place of the operator's tool. */
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
