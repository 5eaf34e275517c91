/** Restores the signers' hourly limits after a restart or takeover: the log has the signatures of the last hour. */
import { ChainBroken } from '../../../commands/codec.ts';
import type { Clock } from '../../../commands/ports.ts';
import { loadFrom, type TransferOwners } from '../../../commands/transferPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { isCoin, microUsdDecimals, parseAmount } from '../../../domain/money.ts';
import { type CoinPrice, coinInMicroUsd } from '../../../domain/payment/fees.ts';
import { epochMs, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { moneyLeaves, referenceOf, type SignedAttempt, type TransferKey } from '../../../domain/transfer/shapes.ts';
import type { RecentTransfer } from '../../../queries/transfers.ts';
import { signedCost } from '../../chains/money/coins.ts';
import { type Spent, type SpentLately, spenderOf } from '../../chains/money/spending.ts';
import { inParallel } from '../../lib/concurrency.ts';

export interface RecallDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly lately: SpentLately;
  /** @throws Unavailable */
  readonly recent: (since: Instant) => Promise<readonly RecentTransfer[]>;
  readonly owners: TransferOwners;
  /** Price of each chain's coin. */
  readonly coins: ReadonlyMap<ChainId, CoinPrice>;
}

/** Retry interval: read models may lag at first. */
const again_ms = 10_000;
const seldom_ms = 10 * minute_ms;
/** Maximum concurrent reads of streams. */
const readsAtOnce = 16;

/**
 * Called before payouts are read. A transfer counts until an hour after its settlement, which may be longer than after its signature:
 * rather too long than too short.
 */
export function createRecall({ clock, lately, recent, owners, coins }: RecallDeps): () => Promise<void> {
  let first_ms: number | null = null;
  let next_ms = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = clock.now();
    const now_ms = epochMs(now);
    if (now_ms < next_ms) return;
    const since = plus(now, -hour_ms);
    const known = new Set([...lately.entries.values()].map(({ reference }) => reference));
    const transfers = (await recent(since)).filter(({ key }) => !known.has(referenceOf(key)));
    const recalled = await inParallel(transfers, readsAtOnce, async (transfer) =>
      spentBy(transfer, now_ms, worthOf(transfer, coins), signedCost(await attemptsOf(owners, transfer.key), since)),
    );
    lately.recall(recalled);
    first_ms ??= now_ms;
    next_ms = now_ms + (now_ms - first_ms < again_ms ? again_ms : seldom_ms);
  };
}

/** All attempts of a transfer. A stream with foreign events blocks no other transfer: its cost is unknown. */
async function attemptsOf(owners: TransferOwners, key: TransferKey): Promise<readonly SignedAttempt[]> {
  try {
    return (await loadFrom(owners, key))?.leg.attempts.map(({ signed }) => signed) ?? [];
  } catch (error) {
    if (error instanceof ChainBroken) return [];
    throw error;
  }
}

const spentBy = (
  { key, kind, appId, chainId, settledAt }: RecentTransfer,
  now_ms: number,
  worth_microUsd: bigint,
  coin: bigint,
): Spent => ({
  chainId,
  reference: referenceOf(key),
  appId: spenderOf(kind, appId),
  amount: moneyLeaves(kind) ? worth_microUsd : 0n,
  coin,
  at_ms: settledAt === null ? now_ms : epochMs(settledAt),
});

/** In millionths of a dollar. */
function worthOf({ chainId, tokenAddress, amount }: RecentTransfer, coins: RecallDeps['coins']): bigint {
  if (!isCoin({ address: tokenAddress })) return upToMicro(amount);
  const price = coins.get(chainId);
  const units = price && parseAmount(amount, price.decimals);
  return price && typeof units === 'bigint' ? coinInMicroUsd(units, price) : 0n;
}

/** Rounded up. */
function upToMicro(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  const cut = parseAmount(`${whole}.${fraction.slice(0, microUsdDecimals) || '0'}`, microUsdDecimals);
  const down = typeof cut === 'bigint' ? cut : 0n;
  return /[1-9]/.test(fraction.slice(microUsdDecimals)) ? down + 1n : down;
}

/** After the log was restored from a backup, nothing is signed on a chain before its payouts are paused in the log. */

/**
 * @param toPause true if the log was restored and they are not paused yet
 * @param pause after a crash they are paused once more, which changes nothing
 * @returns called before payouts are read; throws while the state is unknown or the pause fails
 */
export function pauseAfterRestore({
  toPause,
  pause,
  paused,
}: {
  readonly toPause: () => Promise<boolean>;
  readonly pause: () => Promise<void>;
  readonly paused: () => Promise<unknown>;
}): () => Promise<void> {
  // A log is restored while no service runs, so once is enough.
  let isDone = false;
  return async () => {
    if (isDone) return;
    if (await toPause()) {
      await pause();
      await paused();
    }
    isDone = true;
  };
}
