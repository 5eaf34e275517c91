/**
 * Slow answers: tens of seconds for `eth_getLogs` over 100 blocks on a busy Base node (github.com/ethereum-optimism/op-geth/issues/667), 6
 * to 20 s elsewhere (github.com/filecoin-project/lotus/issues/12205).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { everywhere, onReplies, type Quirk } from '../quirk.ts';

export interface SlowSettings {
  /** Maximum; each answer takes a random share of it. */
  readonly most_ms: number;
}

export const slow: Quirk<SlowSettings> = {
  families: everywhere,
  says: 'slow answers',
  begin: ({ most_ms }, { random }) =>
    onReplies(async (next) => {
      const wait_ms = random() * most_ms;
      await sleep(wait_ms);
      return next();
    }),
};
