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

/** What one call reads. */
const shareLeast = 100;

/** @param list in an order that does not change: what is added during a round may come before where it stands */
export function createRounds(list: Watch['open']) {
  let round: Round | null = null;
  let lastBegun: bigint | null = null;
  let counted = 0;
  let size: number | null = null;

  return {
    isUnderWay: (): boolean => round !== null,
    /** When the round before this one, or the last one, began; null before the first. */
    lastBegun: (): bigint | null => lastBegun,

    /**
     * How many deposits a look is to read, so that a round takes so many looks. A list of no more than `least` is read whole; how long it is
     * the first round tells.
     */
    share(looks: number, { least, most }: { readonly least: number; readonly most: number }): number {
      if (size === null) return most;
      const about = Math.max(size, counted);
      return about <= least ? least : Math.min(most, Math.max(shareLeast, Math.ceil(about / looks)));
    },

    /** @param block where the look stands: what was paid in it was disclosed before, and is in the list by now */
    async page(block: Block, max: number, signal: AbortSignal): Promise<RoundPage> {
      round ??= { begun: block, after: null };
      // One more than is read tells whether the list ends here.
      const listed = await list({ after: round.after, max: max + 1 }, signal);
      const last = listed.length <= max;
      const found = listed.slice(0, max);
      return { owners: found.map(({ address }) => address), round: { ...round, after: found.at(-1) ?? null }, last };
    },

    /** Called once what the page held is recorded: until then the same page comes again. */
    turn({ round: turned, last, owners }: RoundPage): void {
      counted += owners.length;
      round = last ? null : turned;
      if (!last) return;
      lastBegun = turned.begun.slot;
      [size, counted] = [counted, 0];
    },
  };
}
