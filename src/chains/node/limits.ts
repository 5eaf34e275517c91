/** How much one call may ask of a node, as its refusals have shown. */
import { systemTicker, type Ticker } from './ticker.ts';

/** Calls of a batch, blocks of a search for logs, accounts of Solana. */
export type Measure = 'calls' | 'logBlocks' | 'accounts';

export interface NodeLimits {
  /** Undefined as long as it has refused nothing. */
  most(measure: Measure): number | undefined;
  /** It refuses more than this; one is always asked for. */
  learn(measure: Measure, most: number): void;
}

/** A node may have refused in a bad hour, or have another plan by now: after so long, twice as much is tried. */
const calmFirst_ms = 10 * 60_000;
/** Each time that this was too much, it is tried again only after twice as long. */
const calmMost_ms = 24 * 3_600_000;
/** Nothing is asked for in such numbers: the limit is none any more. */
const forgottenFrom = 1_000_000;

interface Learnt {
  most: number;
  since_ms: number;
  calm_ms: number;
  /** Whether more than it was taught is being tried. */
  raised: boolean;
}

export function createLimits({ now_ms }: Pick<Ticker, 'now_ms'> = systemTicker): NodeLimits {
  const known = new Map<Measure, Learnt>();

  /** One step at a time, however long nobody has asked: what is next shows whether it was right. */
  function recovered(measure: Measure): Learnt | undefined {
    const learnt = known.get(measure);
    if (!learnt || now_ms() - learnt.since_ms < learnt.calm_ms) return learnt;
    Object.assign(learnt, { most: learnt.most * 2, since_ms: now_ms(), raised: true });
    if (learnt.most < forgottenFrom) return learnt;
    known.delete(measure);
    return undefined;
  }

  return {
    most: (measure) => recovered(measure)?.most,
    learn(measure, most) {
      const before = known.get(measure);
      const calm_ms = before?.raised ? Math.min(calmMost_ms, before.calm_ms * 2) : (before?.calm_ms ?? calmFirst_ms);
      const least = Math.max(1, Math.min(most, before?.most ?? most));
      known.set(measure, { most: least, since_ms: now_ms(), calm_ms, raised: false });
    },
  };
}
