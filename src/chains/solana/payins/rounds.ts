/** Goes round lists of deposits that are too long for one look: some pages in each look, then again from the front. */
import type { Watch, WatchedDeposit } from '../../family.ts';
import type { Block } from '../reads.ts';

/** One way through a list. */
export interface Round {
  /** The block as of which, or of later ones, all of the list has been read when the round ends. */
  readonly begun: Block;
  /** Behind it the next page begins. */
  readonly after: WatchedDeposit | null;
}

export interface RoundPage {
  readonly owners: readonly string[];
  readonly round: Round;
  /** Whether the list ends with it. */
  readonly last: boolean;
}

export type Rounds = ReturnType<typeof createRounds>;

/** @param list in an order that does not change: what is added during a round may come before where it stands */
export function createRounds(list: Watch['open']) {
  let round: Round | null = null;
  let lastBegun: bigint | null = null;

  return {
    isUnderWay: (): boolean => round !== null,
    /** When the round before this one, or the last one, began; null before the first. */
    lastBegun: (): bigint | null => lastBegun,

    /** @param block where the look stands: what was paid in it was disclosed before, and is in the list by now */
    async page(block: Block, max: number, signal: AbortSignal): Promise<RoundPage> {
      round ??= { begun: block, after: null };
      const found = await list({ after: round.after, max }, signal);
      const last = found.length < max;
      return { owners: found.map(({ address }) => address), round: { ...round, after: found.at(-1) ?? null }, last };
    },

    /** Called once what the page held is recorded: until then the same page comes again. */
    turn({ round: turned, last }: RoundPage): void {
      round = last ? null : turned;
      if (last) lastBegun = turned.begun.slot;
    },
  };
}
