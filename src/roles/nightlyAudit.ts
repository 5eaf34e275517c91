/** The role `audit`: once a night the operator's own tool runs as a process of its own, which takes neither memory nor time of the service. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LastAudit, runNightly } from '../audit/nightly.ts';
import type { Core } from './core.ts';

/** Beside the audit's other files in the data directory. */
export const lastAuditFile = (dataDir: string): string => join(dataDir, 'audit', 'last.json');

const program = fileURLToPath(new URL('../cli/audit.ts', import.meta.url));
/** Of what it complains about. */
const saidMost = 2_000;

/** One active instance; resolves when the signal has aborted and its process has ended. */
export async function runNightlyAudit(
  { leases, clock, config, telemetry }: Pick<Core, 'leases' | 'clock' | 'config' | 'telemetry'>,
  signal: AbortSignal,
): Promise<void> {
  const file = lastAuditFile(config.dataDir);
  const last = async (): Promise<LastAudit | null> =>
    readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as LastAudit,
      () => null,
    );
  await leases.hold('audit', signal, (held) =>
    runNightly(
      {
        clock,
        at: config.auditAt,
        last,
        async audit(until) {
          await runTool(until);
          const done = await last();
          if (!done) throw new Error(`it left nothing in ${file}`);
          return done;
        },
        tell: {
          standing(age_ms, known) {
            telemetry.auditAge.set(age_ms / 1_000);
            telemetry.auditFindings.set(known?.findings ?? 0);
          },
          found: ({ findings, told }) =>
            telemetry.alarm(
              'auditFailed',
              { findings },
              `log, chains and read models do not say the same: ${told.join('; ')}`,
            ),
          failed: (error) =>
            telemetry.alarm('auditStopped', {}, `the audit did not come to its end: ${(error as Error).message}`),
          stale: (age_ms) =>
            telemetry.alarm(
              'auditStale',
              { hours: Math.round(age_ms / 3_600_000) },
              'no audit has come to its end for long',
            ),
        },
      },
      held,
    ),
  );
}

/** Found or not, it leaves its outcome in its file. @throws Error with its last words when it could not */
function runTool(signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(process.execPath, [...process.execArgv, program, '--quiet'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-saidMost);
  });
  child.once('error', reject);
  child.once('close', (code) =>
    code === 0 || code === 1 || code === 2 ? resolve() : reject(new Error(said || `code ${code}`)),
  );
  return promise;
}
