/** Temporary conditions of a Stellar node. */
import type { SpellKind, Spells } from '../spells.ts';

/**
 * Conditions of any node. `lags`: it is some ledgers behind. `stays`: it receives no new ledgers. `away`: it does not answer. `fails`: it
 * answers with an internal error. `crowded`: it accepts no more calls. `swallows`: it accepts transactions and announces none. `isBusy`: it
 * refuses transactions for now.
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
 * Conditions of the one untrusted node. `hidesEvents`: it returns no transfers. `hidesTransactions`: it knows no transaction. `forgets`: it
 * remembers only a few ledgers. `countsOn`: it reports the pending sequence number as used. `runsAhead`: its newest ledger closed an hour
 * from now. `forges`: it returns fabricated payments.
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
