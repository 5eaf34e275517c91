/** Finishes matches of money to payments that lack their payin after a crash. */
import { finishMatch, type UnmatchedDeps } from '../../../commands/matchUnmatched.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Worker } from '../engine.ts';

interface UnfinishedMatch {
  readonly id: string;
}

export interface UnfinishedMatchesDeps extends UnmatchedDeps {
  /** Decided matches without a recorded payin. */
  readonly due: (max: number, now: Instant) => Promise<readonly UnfinishedMatch[]>;
}

export const unfinishedMatchesName = 'unmatched';

/** A payin that the payment refuses counts as failed until an operator acts: the money is matched to this payment and to no other. */
export function unfinishedMatchesWorker({ due, ...deps }: UnfinishedMatchesDeps): Worker<UnfinishedMatch> {
  return {
    name: unfinishedMatchesName,
    concurrency: 2,
    due,
    keyOf: ({ id }) => id,
    async act({ id }) {
      const refused = await finishMatch(deps, id);
      if (refused) throw new Error(`${refused.refused}: ${refused.message}`);
    },
  };
}
