/** Replaces src/process/telemetry.ts: alarms are recorded in the trace, nothing is measured. */
import { Gauge, Registry } from 'prom-client';
import type * as real from '../../../src/process/telemetry.ts';
import { runningProcess } from '../kernel/process.ts';
import { theRun } from '../kernel/run.ts';

const silent = () => {};
const logger = new Proxy({}, { get: () => silent }) as ReturnType<typeof real.createLogger>;

export const createLogger: typeof real.createLogger = () => logger;

export const createTelemetry: typeof real.createTelemetry = () => {
  const registry = new Registry();
  const gauge = (name: string, labelNames: string[]) =>
    new Gauge({ name, help: name, labelNames, registers: [registry] });
  return {
    registry,
    logger,
    projectionLag: gauge('projection_lag', ['set']),
    active: gauge('active', ['role']),
    headLag: gauge('head_lag', []),
    anchorAge: gauge('anchor_age', []),
    auditAge: gauge('audit_age', []),
    auditFindings: gauge('audit_findings', []),
    auditGaps: gauge('audit_gaps', []),
    observeRequest: silent,
    observeClock: silent,
    countRefusal: silent,
    observeStands: silent,
    countPushed: silent,
    replicaRead: silent,
    countSignIn: silent,
    observeFloat: silent,
    observeFloats: silent,
    raisedAlarms: () => [],
    observeStanding: silent,
    countWork(report) {
      if (!('error' in report)) return;
      theRun().note(`${runningProcess()?.name} ${report.worker} ${report.kind}: ${textOf(report.error)}`);
    },
    alarm(reason, facts, message) {
      theRun().alarmed(reason, `${JSON.stringify(facts)} ${message}`);
    },
  };
};

const textOf = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
