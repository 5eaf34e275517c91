/** The role `audit`: once a night the operator's own tool runs, and what it found is told. */

import type { Core } from '../../core.ts';
import type { Leases } from '../../postgres/leases.ts';
import { runAuditTool } from './auditTool.ts';
import { auditDirectory, readLast } from './last.ts';
import { runNightly } from './nightly.ts';

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
    telemetry.alarm('auditFailed', { findings }, `log, chains and read models do not say the same: ${told.join('; ')}`),
  failed: (error) =>
    telemetry.alarm('auditStopped', {}, `the audit did not come to its end: ${(error as Error).message}`),
  stale: (age_ms) =>
    telemetry.alarm('auditStale', { hours: Math.round(age_ms / 3_600_000) }, 'no audit has come to its end for long'),
});
