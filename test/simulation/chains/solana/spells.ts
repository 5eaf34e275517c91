/** What a Solana node may be like for a while. */
import type { SpellKind, Spells } from '../spells.ts';

/**
 * Of any node. `lags`: it is some slots behind. `stays`: it hears of no new slots. `away`: it does not answer. `fails`: it answers with an
 * internal error. `crowded`: it takes no more calls. `swallows`: it takes transactions and tells nobody of them. `listsLate`: accounts'
 * histories are behind its blocks. `newestMissing`: it tells slots whose blocks it does not have yet.
 */
export const usualSpells = {
  lags: { likelihood: 0.02, most_blocks: 12 },
  stays: { likelihood: 0.01, most_blocks: 16 },
  away: { likelihood: 0.01, most_blocks: 8 },
  fails: { likelihood: 0.01, most_blocks: 4 },
  crowded: { likelihood: 0.01, most_blocks: 4 },
  swallows: { likelihood: 0.02, most_blocks: 8 },
  listsLate: { likelihood: 0.02, most_blocks: 8 },
  newestMissing: { likelihood: 0.02, most_blocks: 8 },
} as const satisfies Readonly<Record<string, SpellKind>>;

/**
 * Of the one node that cannot be trusted. `hidesHistories`: it lists nothing. `hidesTransactions`: it knows no transaction. `expiresAll`:
 * no block takes anything that was signed, it says. `forges`: it shows payments that nobody made. `asksForMore`: priority costs a
 * thousand times as much.
 */
export const liarSpells = {
  hidesHistories: { likelihood: 0.01, most_blocks: 12 },
  hidesTransactions: { likelihood: 0.02, most_blocks: 60 },
  expiresAll: { likelihood: 0.02, most_blocks: 30 },
  forges: { likelihood: 0.02, most_blocks: 12 },
  asksForMore: { likelihood: 0.01, most_blocks: 12 },
} as const satisfies Readonly<Record<string, SpellKind>>;

export type SolanaSpells = Spells<keyof typeof usualSpells | keyof typeof liarSpells>;
