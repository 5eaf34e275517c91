/** Runs the policy of each token every minute, and raises alarms for floats that no move can fill. */
import type { Clock } from '../../../commands/ports.ts';
import { chainOf } from '../../../domain/chains.ts';
import { usd } from '../../../domain/rebalance/floatUnits.ts';
import type { Shortage } from '../../../domain/rebalance/policy.ts';
import type { FloatSymbol } from '../../../domain/rebalance/protocols.ts';
import { epochMs, type Instant, instant, minute_ms, plus } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Telemetry } from '../../process/telemetry.ts';
import type { Worker } from '../engine.ts';
import type { Followed } from './followPolicy.ts';

const every_ms = minute_ms;
/** An alarm that persists is repeated at this interval. */
const againAfter_ms = 10 * minute_ms;

export interface PolicyWorkerDeps {
  /** Tokens with limits. */
  readonly symbols: readonly FloatSymbol[];
  readonly follow: (symbol: FloatSymbol, signal: AbortSignal) => Promise<Followed>;
  readonly clock: Pick<Clock, 'now'>;
  readonly alarm: Telemetry['alarm'];
  readonly tell: (symbol: FloatSymbol, followed: Followed) => void;
}

export function policyWorker({ symbols, follow, clock, alarm, tell }: PolicyWorkerDeps): Worker<FloatSymbol> {
  /** A clock that was set back does not delay a round by more than the interval. */
  const lastRound_ms = new Map<FloatSymbol, number>();
  const alarmedAt = boundedTimes();
  const isDue = (symbol: FloatSymbol, now: Instant): boolean => {
    const last_ms = lastRound_ms.get(symbol);
    const passed_ms = last_ms === undefined ? every_ms : epochMs(now) - last_ms;
    return passed_ms >= every_ms || passed_ms < 0;
  };

  function raise(symbol: FloatSymbol, shortage: Shortage): void {
    const { chainId, why } = shortage;
    const now = clock.now();
    const key = `${symbol} ${chainId}`;
    const last_ms = alarmedAt.get(key);
    if (last_ms !== undefined && Math.abs(epochMs(now) - last_ms) < againAfter_ms) return;
    alarmedAt.set(key, epochMs(now));
    const facts = { chainId, token: symbol, why };
    alarm(isManual(shortage) ? 'floatByHand' : 'floatLow', facts, shortageText(symbol, shortage, now));
  }

  return {
    name: 'floats',
    concurrency: 1,
    due: async (max, now) => symbols.filter((symbol) => isDue(symbol, now)).slice(0, max),
    nextDue: () => (lastRound_ms.size === 0 ? null : instant(Math.min(...lastRound_ms.values()) + every_ms)),
    keyOf: (symbol) => symbol.toLowerCase(),
    async act(symbol, signal) {
      const followed = await follow(symbol, signal);
      lastRound_ms.set(symbol, epochMs(clock.now()));
      tell(symbol, followed);
      if (followed.kind !== 'decided') return;
      for (const shortage of followed.shortages) if (!passing.has(shortage.why)) raise(symbol, shortage);
    },
  };
}

/** These end without an operator. */
const passing: ReadonlySet<Shortage['why']> = new Set(['coolDown', 'underWay', 'tooSmall']);
const isManual = ({ why }: Shortage): boolean => why === 'noRoute';

const noFee: Readonly<Record<FloatSymbol, string>> = {
  USDC: 'the attestation service states no fee, so nothing is burned',
  USDT: 'no message fee within the limit is known, so nothing is sent',
};

const reasons: Readonly<Record<Exclude<Shortage['why'], 'noFee'>, string>> = {
  noRoute: 'the protocol does not serve the chain, so move the money by hand',
  noSource: 'no other float can give money, so add money to the treasury',
  dailyCap: 'the daily cap is used up (FLOAT_DAILY_CAP_USD)',
  coolDown: 'the cool-down of the chain is not over',
  underWay: 'a move to the chain is under way',
  closed: 'the treasury’s account there cannot receive it, or the chain does not answer: run npm run check-chain',
  tooSmall: 'the missing amount is below the smallest move',
};

/** Says how much is missing on which chain, and until when. */
export function shortageText(
  symbol: FloatSymbol,
  { chainId, missing, emptyIn_ms, why }: Shortage,
  now: Instant,
): string {
  const until =
    emptyIn_ms === null
      ? 'nothing leaves it at present'
      : `it is empty at ${plus(now, emptyIn_ms)} at the present outflow`;
  const reason = why === 'noFee' ? noFee[symbol] : reasons[why];
  return `${chainOf(chainId).name} needs ${usd(missing)} ${symbol}; ${until}; ${reason}; see docs/operate/floats.md`;
}
