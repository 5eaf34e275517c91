/** Answers to an operator's probes: readiness and metrics. */
import type { Clock } from '../../commands/ports.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import { countFailed, readModelFacts, scannedPasses } from '../../queries/operations.ts';
import type { Ingester } from '../chains/ports.ts';
import type { Core } from '../core.ts';
import { createCursors } from '../postgres/cursors.ts';
import { countPayoutWaits } from '../postgres/payoutWaits.ts';
import { unreadableName } from '../postgres/unreadable.ts';
import { unexplainedName } from '../workers/payins/unreadable.ts';
import type { Readiness } from './routes/operations.ts';

/** A chain may stop for a moment; beyond this limit its payins are detected late. */
const chainLagMax_ms = 120_000;
const answer_ms = 2_000;

class NotReady extends Error {}

const nothing = () => undefined;

type Check = { readonly ok: boolean; readonly detail?: string };

/**
 * Whether this instance can accept payments: the store and Postgres answer, and the read models are current. A lagging chain is reported
 * and its routes are refused; the instance is not ready only if all chains lag. A wrong clock is reported and raises an alarm: an instance
 * that is a minute off serves better than none. Pending work is only in the metrics: one merchant's hanging webhook receiver must not stop
 * the API for all.
 */
export async function readiness(core: Core): Promise<Readiness> {
  const check = checker(core.clock);
  const [eventStore, postgres, projections, chains] = await Promise.all([
    check(() => storeTakes(core)),
    check(() => core.reads.query('SELECT 1').then(nothing)),
    check(() => projectionsKeepUp(core)),
    Promise.all(
      [...core.chains].map(
        async ([id, { ingester }]) => [`chain:${id}`, await check(() => chainKeepsUp(core, ingester))] as const,
      ),
    ),
  ]);
  const ready = eventStore.ok && postgres.ok && projections.ok && chains.some(([, { ok }]) => ok);
  const detail = core.clockWatch.trouble();
  const clock = detail === undefined ? { ok: true } : { ok: false, detail };
  return { ready, checks: { eventStore, postgres, projections, clock, ...Object.fromEntries(chains) } };
}

const checker =
  (clock: Clock) =>
  async (probe: () => Promise<string | undefined>): Promise<Check> => {
    const late = clock.sleep(answer_ms).then(() => {
      throw new NotReady(`no answer within ${answer_ms} ms`);
    });
    try {
      const detail = await Promise.race([probe(), late]);
      return detail === undefined ? { ok: true } : { ok: true, detail };
    } catch (error) {
      // A driver's error may contain internal hosts: only messages of this file are published.
      return { ok: false, detail: error instanceof NotReady ? error.message : 'cannot be reached' };
    }
  };

/** The store must answer through its leader and accept events: reads alone create no payment. */
async function storeTakes({ canWrite, store }: Core): Promise<undefined> {
  if (!canWrite()) throw new NotReady('it is read, and cannot be written to: see the alarm eventStoreCannotWrite');
  await store.tail();
}

/** The log's end must be projected in time; a stopped set reports its reason. */
async function projectionsKeepUp({ clock, reads, caughtUp }: Core): Promise<undefined> {
  const facts = await readModelFacts(reads, clock.now());
  for (const { set, stopped } of facts.sets) if (stopped !== null) throw new NotReady(`${set} has stopped: ${stopped}`);
  if (facts.sets.length === 0) throw new NotReady('no read model is filled yet');
  await caughtUp({ timeout_ms: answer_ms });
}

/** Judged by the pass that reads blocks first. @returns a warning for the operator, if there is one */
async function chainKeepsUp(
  { clock, reads, unavailable }: Core,
  { chainId, passes }: Ingester,
): Promise<string | undefined> {
  const scannedTo = await createCursors(reads).scannedTo(chainId, passes.slice(0, 1));
  if (scannedTo === null) throw new NotReady('not scanned yet');
  const lag_ms = epochMs(clock.now()) - epochMs(scannedTo);
  if (lag_ms > chainLagMax_ms) throw new NotReady(`the newest block seen is ${Math.round(lag_ms / 1000)} s old`);
  const [unexplained, unreadable] = await Promise.all(
    [unexplainedName, unreadableName].map((name) => countFailed(reads, name(chainId))),
  );
  const unanswered = unavailable.ofChain(chainId);
  const aside = [
    unanswered ? `callers were answered 503 within the last minute: ${unanswered}` : [],
    unexplained ? `deposits that hold what is not explained: ${unexplained}; see npm run work -- list` : [],
    unreadable ? `transactions that cannot be read: ${unreadable}; see npm run unmatched -- unreadable` : [],
  ].flat();
  return aside.length > 0 ? aside.join('; ') : undefined;
}

type Needs = Pick<Core, 'clock' | 'reads' | 'telemetry'>;

/** Prometheus text. While Postgres is unavailable, its last values remain. */
export async function metrics(core: Needs): Promise<string> {
  await refresh(core).catch(() => {});
  return core.telemetry.registry.metrics();
}

async function refresh({ clock, reads, telemetry }: Needs): Promise<void> {
  const now = clock.now();
  const [{ parked, held, oldestDuePayment, oldestDueWebhook }, scanned, waits] = await Promise.all([
    readModelFacts(reads, now),
    scannedPasses(reads),
    countPayoutWaits(reads),
  ]);
  const ageOf_s = (since: Instant | null) => (since === null ? 0 : (epochMs(now) - epochMs(since)) / 1000);
  telemetry.observeStanding({
    held: Number(held),
    oldestDue_s: { payments: ageOf_s(oldestDuePayment), webhooks: ageOf_s(oldestDueWebhook) },
    parkedItems: parked.map(({ worker, count }) => ({ worker, count: Number(count) })),
    payoutWaits: waits.map(({ chainId, reason, count }) => ({ chainId, reason, count: Number(count) })),
    passes: scanned.map(({ chainId, pass, chainTime }) => ({ chainId, pass, lag_s: ageOf_s(chainTime) })),
  });
}
