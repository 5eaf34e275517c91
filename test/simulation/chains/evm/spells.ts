/** What an EVM node may be like for a while. */
import type { SpellKind, Spells } from '../spells.ts';

/**
 * Of any node. `lags`: it is some blocks behind. `stays`: it hears of no new blocks. `away`: it does not answer. `fails`: it answers with an
 * internal error. `crowded`: it takes no more calls. `prunes`: it has no states but the newest. `indexesLate`: it lacks receipts of
 * its newest blocks. `finalizedStays`: its tag stays where it is. `searchesLate`: its logs are behind its blocks. `swallows`: it takes
 * transactions and tells nobody of them.
 */
export const usualSpells = {
  lags: { likelihood: 0.02, most_blocks: 12 },
  stays: { likelihood: 0.01, most_blocks: 16 },
  away: { likelihood: 0.01, most_blocks: 8 },
  fails: { likelihood: 0.01, most_blocks: 4 },
  crowded: { likelihood: 0.01, most_blocks: 4 },
  prunes: { likelihood: 0.01, most_blocks: 24 },
  indexesLate: { likelihood: 0.01, most_blocks: 8 },
  finalizedStays: { likelihood: 0.01, most_blocks: 16 },
  searchesLate: { likelihood: 0.01, most_blocks: 8 },
  swallows: { likelihood: 0.02, most_blocks: 8 },
} as const satisfies Readonly<Record<string, SpellKind>>;

/**
 * Of the one node of a chain that cannot be trusted. `hidesLogs`: it answers searches with nothing. `hidesTransactions`: it knows no
 * transaction. `finalizesAll`: its newest block is final, it says. `asksForMore`: gas costs a hundred times as much. `branches`: it
 * shows a branch of its own, with payments that nobody made and without some that were made.
 */
export const liarSpells = {
  hidesLogs: { likelihood: 0.01, most_blocks: 12 },
  hidesTransactions: { likelihood: 0.01, most_blocks: 12 },
  finalizesAll: { likelihood: 0.02, most_blocks: 24 },
  asksForMore: { likelihood: 0.01, most_blocks: 12 },
  branches: { likelihood: 0.02, most_blocks: 30 },
} as const satisfies Readonly<Record<string, SpellKind>>;

export type EvmSpells = Spells<keyof typeof usualSpells | keyof typeof liarSpells>;
