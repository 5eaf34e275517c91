/** What operators are told of transfers that do not go on: at once, and then now and again. */

import type { Outgoing } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { type Fate, PayoutBlocked, SigningRefused } from '../../../commands/transferPorts.ts';
import { formatAmount } from '../../../domain/money.ts';
import { epochMs, hour_ms, minute_ms } from '../../../domain/time.ts';
import type { TransferKey, TransferKind } from '../../../domain/transfer/key.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';
import { stuckAfter_ms } from './fate.ts';

export interface TransferNewsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** A transfer that has to wait for an operator: float, gas, a paused or inconsistent treasury, attempts without end. */
  readonly alarm: (key: TransferKey, reason: string, message: string) => void;
  /** Told why a transfer waits, now and then. It never fails. */
  readonly noteWait?: (key: TransferKey, reason: string, message: string) => void;
}

/** Where an operator sees it. */
const listOf: Readonly<Record<TransferKind, string>> = {
  payout: 'npm run payouts -- list',
  refund: 'npm run refunds -- list',
  unmatchedRefund: 'npm run refunds -- list',
  operation: 'npm run treasury -- operations',
  batch: 'npm run treasury -- batches',
};

const noteAgain_ms = minute_ms;
const tellAgain_ms = 10 * minute_ms;
/** What a chain has taken is final within minutes on all chains that are served. */
const finalBy_ms = hour_ms;

export function createTransferNews({ clock, alarm, noteWait }: TransferNewsDeps) {
  const toldAt = boundedTimes();
  const notedAt = boundedTimes();

  /** Whether it was not done for so long. */
  function isDue(times: typeof toldAt, key: string, again_ms: number): boolean {
    const now_ms = epochMs(clock.now());
    if (now_ms - (times.get(key) ?? Number.NEGATIVE_INFINITY) < again_ms) return false;
    times.set(key, now_ms);
    return true;
  }

  /** Nodes are asked every few seconds: the same is told of now and then. */
  function tellOnce({ key, purpose }: Outgoing, reason: string, message: string): void {
    if (isDue(toldAt, `${purpose.reference} ${reason}`, tellAgain_ms)) alarm(key, reason, message);
  }

  return {
    tellOnce,

    /** What cannot be done now, such as at today's price, is no failure of the transfer: it is told, and tried again later. */
    async unlessBlocked(outgoing: Outgoing, work: () => Promise<unknown>): Promise<void> {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof PayoutBlocked || error instanceof SigningRefused)) throw error;
        tellOnce(outgoing, error.reason, error.message);
      }
    },

    waits({ key, purpose }: Outgoing, reason: string, message: string): void {
      if (reason !== 'treasuryBusy') alarm(key, reason, message);
      if (isDue(notedAt, `${purpose.reference} ${reason}`, noteAgain_ms)) noteWait?.(key, reason, message);
    },

    /** @param first of the attempts that can land */
    ifStuck(outgoing: Outgoing, first: SignedAttempt | undefined, fate: Fate): void {
      if (!first) return;
      const waited_ms = epochMs(clock.now()) - epochMs(first.signedAt);
      const mined = fate.kind === 'pending' && fate.mined;
      if (waited_ms < (mined ? finalBy_ms : stuckAfter_ms)) return;
      const minutes = Math.floor(waited_ms / minute_ms);
      const message = `attempt ${first.attempt} (${first.hash}) is ${mined ? 'not final' : 'not mined'} after ${minutes} minutes: ${listOf[outgoing.key.kind]}`;
      tellOnce(outgoing, `${outgoing.purpose.kind}Stuck`, message);
    },

    fellShort({ key, purpose, leg }: Outgoing, { hash, arrived }: Extract<Fate, { kind: 'short' }>): void {
      const { symbol, decimals } = leg.order.token;
      const message = `${hash} is final and brought the receiver ${formatAmount(arrived, decimals)} ${symbol}, less than was ordered: nothing is paid again by itself; ${listOf[key.kind]}, then accept or retry`;
      alarm(key, `${purpose.kind}Short`, message);
    },
  };
}
