/** Before a chain's first transfer is looked for, what left its treasury is compared with the log. */
import type { Clock } from '../../../commands/ports.ts';
import { epochMs, type Instant, minute_ms } from '../../../domain/time.ts';

export interface OutflowsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** Records what the log does not know. @returns how many there were, and before when nodes remember nothing; null: all was seen */
  readonly compare: (
    signal: AbortSignal,
  ) => Promise<{ readonly unknown: number; readonly unseenBefore: Instant | null }>;
  readonly alarm: (reason: string, message: string) => void;
}

const answer_ms = 60_000;

/**
 * Asked before transfers are looked for; it compares once. Nodes that cannot show the history stop nothing: the alarm says so, and they
 * are asked again each minute.
 */
export function createOutflowCheck({ clock, compare, alarm }: OutflowsDeps): () => Promise<void> {
  let next_ms = Number.NEGATIVE_INFINITY;
  return async () => {
    const now_ms = epochMs(clock.now());
    if (now_ms < next_ms) return;
    next_ms = now_ms + minute_ms;
    try {
      const { unknown, unseenBefore } = await compare(AbortSignal.timeout(answer_ms));
      next_ms = Number.POSITIVE_INFINITY;
      if (unknown > 0)
        alarm(
          'treasuryBehindChain',
          `${unknown} transactions took money from the treasury and the log does not know them: nothing is signed until they are adopted (npm run treasury -- adopt)`,
        );
      if (unseenBefore !== null)
        alarm(
          'outflowsUnseen',
          `no node remembers what left the treasury before ${unseenBefore}: only what left later is compared with the log; name a node with a longer history, and start again`,
        );
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      alarm('outflowsUnseen', `what left the treasury lately cannot be compared with the log: ${why}`);
    }
  };
}
