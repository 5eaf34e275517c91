/** Finishes what a crash has left between an operator's match and the payment's payin. */
import { finishMatch, type UnmatchedDeps } from '../../commands/matchUnmatched.ts';
import type { Instant } from '../../domain/time.ts';
import type { Worker } from './worker.ts';

interface Unfinished {
  readonly id: string;
}

export interface UnmatchedWorkerDeps extends UnmatchedDeps {
  /** Decided matches whose payin is not recorded. */
  readonly due: (max: number, now: Instant) => Promise<readonly Unfinished[]>;
}

export const unmatchedName = 'unmatched';

/** Says what the payment refuses until an operator looks at it: the money was given to it and to nobody else. */
export function unmatchedWorker({ due, ...deps }: UnmatchedWorkerDeps): Worker<Unfinished> {
  return {
    name: unmatchedName,
    concurrency: 2,
    due,
    keyOf: ({ id }) => id,
    async act({ id }) {
      const refused = await finishMatch(deps, id);
      if (refused) throw new Error(`${refused.refused}: ${refused.message}`);
    },
  };
}
