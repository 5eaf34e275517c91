/** Checks recently settled transfers again: a block may leave its chain in spite of its depth. */
import { type Clock, Unavailable } from '../../../commands/ports.ts';
import { loadFrom, type PayoutRail, type TransferOwners } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/shapes.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Worker } from '../engine.ts';

export interface PayoutAuditDeps {
  readonly owners: TransferOwners;
  readonly rail: PayoutRail;
  /** Transfers on this chain that were settled after `since`, oldest first. */
  readonly settledSince: (since: Instant, max: number) => Promise<readonly SettledItem[]>;
  readonly alarm: (key: TransferKey, hash: string) => void;
}

export interface SettledItem {
  readonly key: TransferKey;
}

/** By then every served chain has its deepest finality. */
const watched_ms = hour_ms;
const recheck_ms = 10 * minute_ms;

export const auditName = (chainId: ChainId): string => `payoutAudit:${chainId}`;

/** Due items of a worker that checks recently recorded ones again: those of the last hour, each every 10 minutes. */
export function recheckLately<T>(
  recordedSince: (since: Instant, max: number) => Promise<readonly T[]>,
  keyOf: (item: T) => string,
): Worker<T>['due'] {
  const recheckAt = boundedTimes();
  return async (max, now) => {
    const now_ms = epochMs(now);
    const items = await recordedSince(plus(now, -watched_ms), max + recheckAt.countAfter(now_ms));
    const due = items.filter((item) => (recheckAt.get(keyOf(item)) ?? 0) <= now_ms).slice(0, max);
    for (const item of due) recheckAt.set(keyOf(item), now_ms + recheck_ms);
    return due;
  };
}

/**
 * Records a vanished transfer as orphaned in its stream, so the worker sends its bytes again: the receiver is paid, and its nonce leaves no
 * gap that blocks every later one.
 */
export function auditWorker({ owners, rail, settledSince, alarm }: PayoutAuditDeps): Worker<SettledItem> {
  const keyOf = ({ key }: SettledItem) => referenceOf(key);
  return {
    name: auditName(rail.chainId),
    concurrency: 4,
    due: recheckLately(settledSince, keyOf),
    keyOf,
    async act({ key }, signal) {
      const settled = (await loadFrom(owners, key))?.leg.settled;
      if (!settled) return;
      const { hash, blockHash, blockNumber } = settled;
      if (await rail.stillFinal({ hash, blockHash, blockNumber: BigInt(blockNumber) }, signal)) return;
      const outcome = await owners[key.kind]?.orphan(key, { hash, blockHash });
      if (!outcome) return;
      if (isRefusal(outcome)) throw new Error(`${outcome.refused}: ${outcome.message}`);
      if (outcome.appended > 0) alarm(key, hash);
    },
  };
}

// Before a chain's first payout, compares the treasury's outgoing transactions with the log.

export interface OutflowsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** Records unknown transactions. @returns their number, and the time before which nodes remember nothing; null: all was read */
  readonly compare: (
    signal: AbortSignal,
  ) => Promise<{ readonly unknown: number; readonly unseenBefore: Instant | null }>;
  readonly alarm: (reason: string, message: string) => void;
}

const answer_ms = 60_000;

/**
 * Called before payouts are read; compares once. Nodes without the history stop nothing: the alarm says so, and they are queried again each
 * minute. An outage of the log or of Postgres says nothing about the nodes, so the next round compares again. @throws Unavailable
 */
export function createOutflowCheck({ clock, compare, alarm }: OutflowsDeps): () => Promise<void> {
  let next_ms = Number.NEGATIVE_INFINITY;
  return async () => {
    const now_ms = epochMs(clock.now());
    if (now_ms < next_ms) return;
    next_ms = now_ms + minute_ms;
    try {
      const { unknown, unseenBefore } = await compare(AbortSignal.timeout(answer_ms));
      next_ms = Number.POSITIVE_INFINITY;
      if (unknown > 0)
        alarm(
          'treasuryBehindChain',
          `${unknown} transactions that took money from the treasury are missing from the log: nothing is signed until they are adopted (npm run treasury -- adopt)`,
        );
      if (unseenBefore !== null)
        alarm(
          'outflowsUnseen',
          `no node has outflows of the treasury from before ${unseenBefore}: only later ones are compared with the log. Name a node with a longer history, then restart`,
        );
    } catch (error) {
      if (error instanceof Unavailable) {
        next_ms = Number.NEGATIVE_INFINITY;
        throw error;
      }
      const why = error instanceof Error ? error.message : String(error);
      alarm('outflowsUnseen', `recent outflows of the treasury cannot be compared with the log: ${why}`);
    }
  };
}
