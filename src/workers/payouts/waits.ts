/** How long a transfer that cannot go on now is left alone. Waiting is no failure: nothing is set aside for it. */

import type { Outgoing } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, hour_ms, type Instant, instant, minute_ms } from '../../../domain/time.ts';
import { liveAttempts } from '../../../domain/transfer/leg.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';

/** What waits for float, gas or an operator is tried again so often. */
const retry_ms = 5_000;

/**
 * A token seldom takes back a refusal, spent attempts wait for an operator, and nodes are seldom mended at once: such transfers are tried
 * ever more rarely, up to these pauses, so that many of them do not hold up the others.
 */
const rarely_ms: Readonly<Record<string, number>> = {
  refusedByToken: hour_ms,
  formUnknown: hour_ms,
  attemptsSpent: hour_ms,
  fundingUnproven: minute_ms,
  perHour: minute_ms,
  appPerHour: minute_ms,
  coinPerHour: minute_ms,
  owed: minute_ms,
  addressNotInBook: minute_ms,
};

export type Waits = ReturnType<typeof createWaits>;

/** @param look_ms how often it is asked whether an account is free again */
export function createWaits(clock: Pick<Clock, 'now'>, look_ms: number) {
  const recheckAt = boundedTimes();
  /** Until when nothing is tried for an app that has used up its share: what one of its transfers was told the others need not ask. */
  const appFullUntil = boundedTimes();
  const now_ms = () => epochMs(clock.now());

  function pause_ms(reason: string, waited_ms: number): number {
    if (reason === 'treasuryBusy') return look_ms;
    return Math.min(Math.max(retry_ms, waited_ms / 2), rarely_ms[reason] ?? retry_ms);
  }

  return {
    isDue: (reference: string, now: Instant): boolean => (recheckAt.get(reference) ?? 0) <= epochMs(now),
    /** How many are left alone. */
    count: (now: Instant): number => recheckAt.countAfter(epochMs(now)),
    next(now: Instant): Instant | null {
      const next_ms = recheckAt.nextAfter(epochMs(now));
      return Number.isFinite(next_ms) ? instant(next_ms) : null;
    },
    pause: (reference: string, duration_ms: number): void => recheckAt.set(reference, now_ms() + duration_ms),

    /** Left alone for as long as the reason deserves; what can land already is looked at as often as ever. */
    wait({ purpose, leg, appId, owedSince }: Outgoing, reason: string): void {
      const waited_ms = liveAttempts(leg).length === 0 ? now_ms() - epochMs(owedSince) : 0;
      recheckAt.set(purpose.reference, now_ms() + pause_ms(reason, waited_ms));
      if (reason === 'appPerHour' && appId !== null && !isFull(appId)) appFullUntil.set(appId, now_ms() + retry_ms);
    },

    isAppFull: ({ appId, leg }: Outgoing): boolean => appId !== null && liveAttempts(leg).length === 0 && isFull(appId),
  };

  function isFull(appId: string): boolean {
    return (appFullUntil.get(appId) ?? 0) > now_ms();
  }
}
