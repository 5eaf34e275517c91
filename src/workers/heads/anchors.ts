/** Follows the anchors of heads: one is ordered when it is due, told once it is on its chain, and missed when none comes. */
import type { Anchoring } from '../../../commands/heads/anchor.ts';
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, hour_ms, minute_ms } from '../../../domain/time.ts';

export interface AnchorsDeps {
  readonly anchoring: Anchoring;
  readonly clock: Clock;
  readonly every_ms: number;
  /** None has come for too long. */
  readonly alarm: (message: string) => void;
  /** How old the newest one is. */
  readonly observe: (age_ms: number) => void;
  readonly failed: (error: unknown) => void;
}

const round_ms = minute_ms;
/** Beyond twice the time from one to the next. */
const patience_ms = hour_ms;

/** Until the signal aborts. On one instance at a time: the caller holds a lease. */
export async function followForAnchors(deps: AnchorsDeps, signal: AbortSignal): Promise<void> {
  const { anchoring, clock, every_ms, alarm, observe, failed } = deps;
  const began_ms = epochMs(clock.now());
  let anchored_ms = began_ms;
  while (!signal.aborted) {
    try {
      const at = await anchoring.round();
      anchored_ms = at === null ? began_ms : epochMs(at);
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    const now_ms = epochMs(clock.now());
    observe(now_ms - anchored_ms);
    // What came due while nobody ran is ordered soon.
    if (now_ms - Math.max(anchored_ms, began_ms) > 2 * every_ms + patience_ms)
      alarm('no head was put on the chain for too long: see why the operation anchor-… waits');
    await clock.sleep(round_ms, signal);
  }
}
