/** The signers' hourly limits go on after a restart, and when another instance takes over: what was signed within the hour is in the log. */
import { ChainBroken } from '../../commands/codec.ts';
import type { Clock } from '../../commands/ports.ts';
import { microUsdDecimals, parseAmount } from '../../domain/money.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import type { RecentPayout } from '../../queries/payouts.ts';
import { inParallel } from '../chains/inParallel.ts';
import { signedCost } from '../chains/money/signedCost.ts';
import type { Spent, SpentLately } from '../chains/money/spending.ts';

export interface RecallDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly lately: SpentLately;
  /** @throws Unavailable */
  readonly recent: (since: Instant) => Promise<readonly RecentPayout[]>;
  /** All that was signed for a payment's payout, as the log has it. @throws Unavailable, ChainBroken */
  readonly attemptsOf: (paymentId: string) => Promise<readonly SignedAttempt[]>;
}

/** Read models may be a moment late at the first time. */
const again_ms = 10_000;
const seldom_ms = 10 * minute_ms;
/** Streams that are read at a time. */
const readsAtOnce = 16;

/**
 * Asked before payouts are looked for. A payout counts until an hour after it was settled, or longer than after it was signed: rather too
 * long than too short.
 */
export function createRecall({ clock, lately, recent, attemptsOf }: RecallDeps): () => Promise<void> {
  let first_ms: number | null = null;
  let next_ms = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now();
    const now_ms = epochMs(now);
    if (now_ms < next_ms) return;
    const since = plus(now, -hour_ms);
    const known = new Set([...lately.entries.values()].map(({ reference }) => reference));
    const payouts = (await recent(since)).filter(({ paymentId }) => !known.has(paymentId));
    const recalled = await inParallel(payouts, readsAtOnce, async (payout) =>
      spentBy(payout, now_ms, signedCost(await readable(attemptsOf(payout.paymentId)), since)),
    );
    lately.recall(recalled);
    first_ms ??= now_ms;
    next_ms = now_ms + (now_ms - first_ms < again_ms ? again_ms : seldom_ms);
  };
}

/** A stream that others wrote to holds up no other payment's payout: of what it cost nothing is known. */
async function readable(attempts: Promise<readonly SignedAttempt[]>): Promise<readonly SignedAttempt[]> {
  try {
    return await attempts;
  } catch (error) {
    if (error instanceof ChainBroken) return [];
    throw error;
  }
}

const spentBy = (
  { paymentId, appId, chainId, amount, settledAt }: RecentPayout,
  now_ms: number,
  coin: bigint,
): Spent => ({
  chainId,
  reference: paymentId,
  appId,
  amount: upToMicro(amount),
  coin,
  at_ms: settledAt === null ? now_ms : epochMs(settledAt),
});

/** Rounded up. */
function upToMicro(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  const cut = parseAmount(`${whole}.${fraction.slice(0, microUsdDecimals) || '0'}`, microUsdDecimals);
  const down = typeof cut === 'bigint' ? cut : 0n;
  return /[1-9]/.test(fraction.slice(microUsdDecimals)) ? down + 1n : down;
}
