/** Checks transfers again that were settled lately: a block may leave its chain in spite of its depth. */

import { loadFrom, type TransferOwners } from '../../../commands/outgoing.ts';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/key.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';
import type { Worker } from '../engine.ts';

export interface AuditDeps {
  readonly owners: TransferOwners;
  readonly rail: PayoutRail;
  /** Transfers on this chain that were settled after `since`, oldest first. */
  readonly settledSince: (since: Instant, max: number) => Promise<readonly SettledItem[]>;
  readonly alarm: (key: TransferKey, hash: string) => void;
}

export interface SettledItem {
  readonly key: TransferKey;
}

/** By then every chain that is served has its deepest finality. */
const watched_ms = hour_ms;
const recheck_ms = 10 * minute_ms;

export const auditName = (chainId: ChainId): string => `payoutAudit:${chainId}`;

/**
 * A transfer found gone is orphaned in its stream, so that the worker sends its bytes again: the receiver is paid, and its nonce does not
 * stay a gap that holds up every later one.
 */
export function auditWorker({ owners, rail, settledSince, alarm }: AuditDeps): Worker<SettledItem> {
  const recheckAt = boundedTimes();
  return {
    name: auditName(rail.chainId),
    concurrency: 4,
    async due(max, now) {
      const now_ms = epochMs(now);
      const items = await settledSince(plus(now, -watched_ms), max + recheckAt.countAfter(now_ms));
      const due = items.filter(({ key }) => (recheckAt.get(referenceOf(key)) ?? 0) <= now_ms).slice(0, max);
      for (const { key } of due) recheckAt.set(referenceOf(key), now_ms + recheck_ms);
      return due;
    },
    keyOf: ({ key }) => referenceOf(key),
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
