import { eventCodec } from '../../commands/codec.ts';
import { introduceWebhookTypes } from '../../commands/sendWebhook.ts';
import { laterWebhookEventTypes } from '../../domain/webhook.ts';
import { ProjectionOutdated } from '../../projections/generations.ts';
import { projectionSets } from '../../projections/sets.ts';
import type { Core } from '../core.ts';
import type { Telemetry } from '../process/telemetry.ts';
import { LogSetBack } from './logSetBack.ts';
import { type ProjectionReport, runProjections } from './projections.ts';
import { sharedLog } from './sharedLog.ts';

/** Keeps both sets of read models filled. A set stops with an alarm at a poison event; the other continues. */
export async function runProjectionsRole(core: Core, signal: AbortSignal): Promise<void> {
  const { store, clock, database, leases, crash, telemetry, workHandle } = core;
  const shared = { ...store.workers, ...sharedLog(store.workers) };
  await Promise.all(
    projectionSets.map((set) =>
      runProjections({
        store: shared,
        database,
        leases,
        codec: eventCodec,
        set,
        introduce: () => introduceWebhookTypes(workHandle, laterWebhookEventTypes),
        signal,
        crash,
        clock,
        report: (report) => observe(telemetry, report),
      }).catch(() => {}),
    ),
  );
}

function observe(telemetry: Telemetry, report: ProjectionReport): void {
  const { set } = report;
  if (report.kind === 'committed') {
    if (report.lag_ms !== null) telemetry.projectionLag.set({ set }, report.lag_ms / 1000);
  } else if (report.kind === 'retrying') {
    telemetry.logger.warn(
      { set, error: report.error.message, pause_ms: report.pause_ms },
      'projections wait for a store',
    );
  } else {
    if (report.error instanceof LogSetBack) telemetry.alarm('logSetBack', { set }, report.error.message);
    telemetry.alarm(
      'projectionStopped',
      { set, error: String(report.error) },
      report.error instanceof ProjectionOutdated
        ? 'a projection set waits: rebuild it as the error says, and it continues'
        : 'a projection set has stopped: fix the cause, then restart or rebuild',
    );
  }
}
