/** Temporary conditions of a Solana node. */
import type { SpellKind, Spells } from '../spells.ts';

/**
 * Conditions of any node. `lags`: it is some slots behind. `stays`: it receives no new slots. `away`: it does not answer. `fails`: it
 * answers with an internal error. `crowded`: it accepts no more calls. `swallows`: it accepts transactions and announces none. `listsLate`:
 * accounts' histories are behind its blocks. `newestMissing`: it reports slots whose blocks it does not have yet.
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
 * Conditions of the one untrusted node. `hidesHistories`: its lists are empty. `hidesTransactions`: it knows no transaction. `expiresAll`:
 * it reports every signed transaction as expired. `forges`: it returns fabricated payments. `asksForMore`: priority costs a thousand times
 * as much.
 */
export const liarSpells = {
  hidesHistories: { likelihood: 0.01, most_blocks: 12 },
  hidesTransactions: { likelihood: 0.02, most_blocks: 60 },
  expiresAll: { likelihood: 0.02, most_blocks: 30 },
  forges: { likelihood: 0.02, most_blocks: 12 },
  asksForMore: { likelihood: 0.01, most_blocks: 12 },
} as const satisfies Readonly<Record<string, SpellKind>>;

export type SolanaSpells = Spells<keyof typeof usualSpells | keyof typeof liarSpells>;
