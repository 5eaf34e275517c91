/** Runs the policy every minute, and raises alarms for floats that no move can fill. */
import type { Clock } from '../../../commands/ports.ts';
import { chainOf } from '../../../domain/chains.ts';
import { usd } from '../../../domain/rebalance/floatUnits.ts';
import type { Shortage } from '../../../domain/rebalance/policy.ts';
import { epochMs, type Instant, instant, minute_ms, plus } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/cache.ts';
import type { Telemetry } from '../../process/telemetry.ts';
import type { Worker } from '../engine.ts';
import type { Followed } from './followPolicy.ts';

const every_ms = minute_ms;
/** An alarm that persists is repeated at this interval. */
const againAfter_ms = 10 * minute_ms;
const onlyItem = 'usdc';

export interface PolicyWorkerDeps {
  readonly follow: (signal: AbortSignal) => Promise<Followed>;
  readonly clock: Pick<Clock, 'now'>;
  readonly alarm: Telemetry['alarm'];
  readonly tell: (followed: Followed) => void;
}

export function policyWorker({ follow, clock, alarm, tell }: PolicyWorkerDeps): Worker<string> {
  /** A clock that was set back does not delay a round by more than the interval. */
  let lastRound_ms: number | null = null;
  const alarmedAt = boundedTimes();
  const isDue = (now: Instant): boolean => {
    const passed_ms = lastRound_ms === null ? every_ms : epochMs(now) - lastRound_ms;
    return passed_ms >= every_ms || passed_ms < 0;
  };

  function raise(shortage: Shortage): void {
    const { chainId, why } = shortage;
    const now = clock.now();
    const last_ms = alarmedAt.get(String(chainId));
    if (last_ms !== undefined && Math.abs(epochMs(now) - last_ms) < againAfter_ms) return;
    alarmedAt.set(String(chainId), epochMs(now));
    alarm(isManual(shortage) ? 'floatByHand' : 'floatLow', { chainId, why }, shortageText(shortage, now));
  }

  return {
    name: 'floats',
    concurrency: 1,
    due: async (_, now) => (isDue(now) ? [onlyItem] : []),
    nextDue: () => (lastRound_ms === null ? null : instant(lastRound_ms + every_ms)),
    keyOf: (item) => item,
    async act(_, signal) {
      const followed = await follow(signal);
      lastRound_ms = epochMs(clock.now());
      tell(followed);
      if (followed.kind !== 'decided') return;
      for (const shortage of followed.shortages) if (!passing.has(shortage.why)) raise(shortage);
    },
  };
}

/** These end without an operator. */
const passing: ReadonlySet<Shortage['why']> = new Set(['coolDown', 'underWay', 'tooSmall']);
const isManual = ({ why }: Shortage): boolean => why === 'noRoute';

const reasons: Readonly<Record<Shortage['why'], string>> = {
  noRoute: 'the protocol does not serve the chain, so move the money by hand',
  noSource: 'no other float can give money, so add money to the treasury',
  dailyCap: 'the daily cap is used up (FLOAT_DAILY_CAP_USD)',
  noFee: 'the attestation service states no fee, so nothing is burned',
  coolDown: 'the cool-down of the chain is not over',
  underWay: 'a move to the chain is under way',
  tooSmall: 'the missing amount is below the smallest move',
};

/** Says how much is missing on which chain, and until when. */
export function shortageText({ chainId, missing, emptyIn_ms, why }: Shortage, now: Instant): string {
  const until =
    emptyIn_ms === null
      ? 'nothing leaves it at present'
      : `it is empty at ${plus(now, emptyIn_ms)} at the present outflow`;
  return `${chainOf(chainId).name} needs ${usd(missing)} USDC; ${until}; ${reasons[why]}; see docs/operate/floats.md`;
}
