import { epochMs, type Instant } from '../../domain/time.ts';
import { readModelFacts, scannedPasses } from '../../queries/operations.ts';
import type { Core } from './core.ts';

type Looked = Pick<Core, 'clock' | 'reads' | 'telemetry'>;

/** Prometheus text; while Postgres is away, what it last said stands. */
export async function metrics(core: Looked): Promise<string> {
  await look(core).catch(() => {});
  return core.telemetry.registry.metrics();
}

async function look({ clock, reads, telemetry }: Looked): Promise<void> {
  const now = clock.now();
  const [{ parked, oldestDuePayment, oldestDueWebhook }, scanned] = await Promise.all([
    readModelFacts(reads, now),
    scannedPasses(reads),
  ]);
  const ageOf_s = (since: Instant | null) => (since === null ? 0 : (epochMs(now) - epochMs(since)) / 1000);
  telemetry.stood({
    oldestDue_s: { payments: ageOf_s(oldestDuePayment), webhooks: ageOf_s(oldestDueWebhook) },
    parkedItems: parked.map(({ worker, count }) => ({ worker, count: Number(count) })),
    passes: scanned.map(({ chainId, pass, chainTime }) => ({ chainId, pass, lag_s: ageOf_s(chainTime) })),
  });
}
