/** Temporary conditions of an EVM node. */
import type { SpellKind, Spells } from '../spells.ts';

/**
 * Conditions of any node. `lags`: it is some blocks behind. `stays`: it receives no new blocks. `away`: it does not answer. `fails`: it
 * answers with an internal error. `crowded`: it accepts no more calls. `prunes`: it has only the newest states. `indexesLate`: it lacks
 * receipts of its newest blocks. `finalizedStays`: its tag does not move. `searchesLate`: its logs are behind its blocks. `swallows`: it
 * accepts transactions and announces none.
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
 * Conditions of a chain's one untrusted node. `hidesLogs`: its searches are empty. `hidesTransactions`: it knows no transaction.
 * `finalizesAll`: it reports its newest block as final. `asksForMore`: gas costs a hundred times as much. `branches`: it returns a branch
 * of its own, with fabricated payments and without some real ones.
 */
export const liarSpells = {
  hidesLogs: { likelihood: 0.01, most_blocks: 12 },
  hidesTransactions: { likelihood: 0.01, most_blocks: 12 },
  finalizesAll: { likelihood: 0.02, most_blocks: 24 },
  asksForMore: { likelihood: 0.01, most_blocks: 12 },
  branches: { likelihood: 0.02, most_blocks: 30 },
} as const satisfies Readonly<Record<string, SpellKind>>;

export type EvmSpells = Spells<keyof typeof usualSpells | keyof typeof liarSpells>;
