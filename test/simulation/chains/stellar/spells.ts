/** What a Stellar node may be like for a while. */
import type { SpellKind, Spells } from '../spells.ts';

/**
 * Of any node. `lags`: it is some ledgers behind. `stays`: it hears of no new ledgers. `away`: it does not answer. `fails`: it answers with
 * an internal error. `crowded`: it takes no more calls. `swallows`: it takes transactions and tells nobody of them. `isBusy`: it takes no
 * transactions now.
 */
export const usualSpells = {
  lags: { likelihood: 0.02, most_blocks: 12 },
  stays: { likelihood: 0.01, most_blocks: 16 },
  away: { likelihood: 0.01, most_blocks: 8 },
  fails: { likelihood: 0.01, most_blocks: 4 },
  crowded: { likelihood: 0.01, most_blocks: 4 },
  swallows: { likelihood: 0.02, most_blocks: 8 },
  isBusy: { likelihood: 0.02, most_blocks: 4 },
} as const satisfies Readonly<Record<string, SpellKind>>;

/**
 * Of the one node that cannot be trusted. `hidesEvents`: it shows no transfers. `hidesTransactions`: it knows no transaction.
 * `forgets`: it remembers a few ledgers only. `countsOn`: the number of what waits is used by something else, it says. `runsAhead`: its newest ledger
 * closed an hour from now. `forges`: it shows payments that nobody made.
 */
export const liarSpells = {
  hidesEvents: { likelihood: 0.01, most_blocks: 12 },
  hidesTransactions: { likelihood: 0.02, most_blocks: 70 },
  forgets: { likelihood: 0.01, most_blocks: 12 },
  countsOn: { likelihood: 0.01, most_blocks: 12 },
  runsAhead: { likelihood: 0.01, most_blocks: 12 },
  forges: { likelihood: 0.02, most_blocks: 12 },
} as const satisfies Readonly<Record<string, SpellKind>>;

export type StellarSpells = Spells<keyof typeof usualSpells | keyof typeof liarSpells>;
