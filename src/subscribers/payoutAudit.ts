/** Checks payouts again that were settled lately: a block may leave its chain in spite of its depth. */

import { currentState, type Handle } from '../../commands/handle.ts';
import type { PayoutRail } from '../../commands/transfers/ports.ts';
import { unsettlePayout } from '../../commands/transfers/settle.ts';
import type { ChainId } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { PaymentKey } from '../../queries/work.ts';
import { boundedTimes, type Worker } from './worker.ts';

export interface PayoutAuditDeps {
  readonly handle: Handle;
  readonly rail: PayoutRail;
  /** Payments whose payout on this chain was settled after `since`, oldest first. */
  readonly settledSince: (since: Instant, max: number) => Promise<readonly PaymentKey[]>;
  readonly alarm: (paymentId: string, hash: string) => void;
}

/** By then every chain that is served has its deepest finality. */
const watched_ms = hour_ms;
const recheck_ms = 10 * minute_ms;

export const payoutAuditName = (chainId: ChainId): string => `payoutAudit:${chainId}`;

/**
 * A payout found gone is orphaned in its stream, so that the payouts worker sends its bytes again: the receiver is paid, and
 * its nonce does not stay a gap that holds up every later one.
 */
export function payoutAuditWorker({ handle, rail, settledSince, alarm }: PayoutAuditDeps): Worker<PaymentKey> {
  const recheckAt = boundedTimes();
  return {
    name: payoutAuditName(rail.chainId),
    concurrency: 4,
    async due(max, now) {
      const now_ms = epochMs(now);
      const items = await settledSince(plus(now, -watched_ms), max + recheckAt.countAfter(now_ms));
      const due = items.filter(({ paymentId }) => (recheckAt.get(paymentId) ?? 0) <= now_ms).slice(0, max);
      for (const { paymentId } of due) recheckAt.set(paymentId, now_ms + recheck_ms);
      return due;
    },
    keyOf: ({ paymentId }) => paymentId,
    async act({ paymentId }, signal) {
      const payment = await currentState(handle, paymentDecider, paymentId);
      const settled = payment?.payout?.settled;
      if (!payment || !settled) return;
      const { hash, blockHash, blockNumber } = settled;
      if (await rail.stillFinal({ hash, blockHash, blockNumber: BigInt(blockNumber) }, signal)) return;
      const outcome = await unsettlePayout({ handle }, payment, { hash, blockHash });
      if (isRefusal(outcome)) throw new Error(`${outcome.refused}: ${outcome.message}`);
      if (outcome.appended > 0) alarm(paymentId, hash);
    },
  };
}
