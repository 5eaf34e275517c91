import { epochMs, type Instant } from '../../domain/time.ts';
import { readModelFacts, scannedPasses } from '../../queries/operations.ts';
import type { Core } from './core.ts';

type Needs = Pick<Core, 'clock' | 'reads' | 'telemetry'>;

/** Prometheus text. While Postgres is away, its last values stand. */
export async function metrics(core: Needs): Promise<string> {
  await refresh(core).catch(() => {});
  return core.telemetry.registry.metrics();
}

async function refresh({ clock, reads, telemetry }: Needs): Promise<void> {
  const now = clock.now();
  const [{ parked, oldestDuePayment, oldestDueWebhook }, scanned] = await Promise.all([
    readModelFacts(reads, now),
    scannedPasses(reads),
  ]);
  const ageOf_s = (since: Instant | null) => (since === null ? 0 : (epochMs(now) - epochMs(since)) / 1000);
  telemetry.observeStanding({
    oldestDue_s: { payments: ageOf_s(oldestDuePayment), webhooks: ageOf_s(oldestDueWebhook) },
    parkedItems: parked.map(({ worker, count }) => ({ worker, count: Number(count) })),
    passes: scanned.map(({ chainId, pass, chainTime }) => ({ chainId, pass, lag_s: ageOf_s(chainTime) })),
  });
}
