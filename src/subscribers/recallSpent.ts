/** The signers' hourly limits go on after a restart, and when another instance takes over: what was signed within the hour is in the log. */
import type { Clock } from '../../commands/ports.ts';
import { microUsdDecimals, parseAmount } from '../../domain/money.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { RecentPayout } from '../../queries/payouts.ts';
import type { Spent, SpentLately } from '../chains/money/spending.ts';

export interface RecallDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly lately: Pick<SpentLately, 'recall'>;
  /** @throws Unavailable */
  readonly recent: (since: Instant) => Promise<readonly RecentPayout[]>;
}

/** Read models may be a moment late at the first time. */
const again_ms = 10_000;
const seldom_ms = 10 * minute_ms;

/**
 * Asked before payouts are looked for. A payout counts until an hour after it was settled, or longer than after it was signed: rather too
 * long than too short.
 */
export function createRecall({ clock, lately, recent }: RecallDeps): () => Promise<void> {
  let first_ms: number | null = null;
  let next_ms = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now();
    const now_ms = epochMs(now);
    if (now_ms < next_ms) return;
    lately.recall((await recent(plus(now, -hour_ms))).map((payout) => spentBy(payout, now_ms)));
    first_ms ??= now_ms;
    next_ms = now_ms + (now_ms - first_ms < again_ms ? again_ms : seldom_ms);
  };
}

const spentBy = ({ paymentId, appId, chainId, amount, settledAt }: RecentPayout, now_ms: number): Spent => ({
  chainId,
  reference: paymentId,
  appId,
  amount: upToMicro(amount),
  coin: 0n,
  at_ms: settledAt === null ? now_ms : epochMs(settledAt),
});

/** Rounded up. */
function upToMicro(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  const cut = parseAmount(`${whole}.${fraction.slice(0, microUsdDecimals) || '0'}`, microUsdDecimals);
  const down = typeof cut === 'bigint' ? cut : 0n;
  return /[1-9]/.test(fraction.slice(microUsdDecimals)) ? down + 1n : down;
}
