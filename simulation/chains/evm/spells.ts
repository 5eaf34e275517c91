/** What is wrong with a node for a while. */
import type { Kernel } from '../../kernel/ports.ts';

/** How often a spell begins, each time that the weather is drawn, and how long it lasts at most. */
interface Kind {
  readonly likelihood: number;
  readonly most_s: number;
}

/**
 * Of any node. `lags`: it is some blocks behind. `stays`: it hears of no new blocks. `away`: it does not answer. `fails`: it answers with an
 * internal error. `crowded`: it takes no more calls. `prunes`: it has no states but the newest. `indexesLate`: it lacks receipts of
 * its newest blocks. `finalizedStays`: its tag stays where it is. `searchesLate`: its logs are behind its blocks. `swallows`: it takes
 * transactions and tells nobody of them.
 */
export const usualSpells = {
  lags: { likelihood: 0.02, most_s: 60 },
  stays: { likelihood: 0.01, most_s: 90 },
  away: { likelihood: 0.01, most_s: 45 },
  fails: { likelihood: 0.01, most_s: 20 },
  crowded: { likelihood: 0.01, most_s: 15 },
  prunes: { likelihood: 0.01, most_s: 120 },
  indexesLate: { likelihood: 0.01, most_s: 30 },
  finalizedStays: { likelihood: 0.01, most_s: 90 },
  searchesLate: { likelihood: 0.01, most_s: 30 },
  swallows: { likelihood: 0.02, most_s: 30 },
} as const satisfies Readonly<Record<string, Kind>>;

/**
 * Of the one node of a chain that cannot be trusted. `hidesLogs`: it answers searches with nothing. `hidesTransactions`: it knows no
 * transaction. `finalizesAll`: its newest block is final, it says. `asksForMore`: gas costs a hundred times as much. `branches`: it
 * shows a branch of its own, with payments that nobody made and without some that were made.
 */
export const liarSpells = {
  hidesLogs: { likelihood: 0.01, most_s: 60 },
  hidesTransactions: { likelihood: 0.01, most_s: 60 },
  finalizesAll: { likelihood: 0.02, most_s: 120 },
  asksForMore: { likelihood: 0.01, most_s: 60 },
  branches: { likelihood: 0.02, most_s: 180 },
} as const satisfies Readonly<Record<string, Kind>>;

export type Spell = keyof typeof usualSpells | keyof typeof liarSpells;

export interface Spells {
  /** Lets some begin, and others end. @returns those that begin now */
  draw(): readonly Spell[];
  has(spell: Spell): boolean;
  /** All end. */
  calm(): void;
}

export function createSpells({ fails, random, now_ms }: Kernel, family: string, lies: boolean): Spells {
  const ends = new Map<Spell, number>();
  const kinds: readonly (readonly [string, Kind])[] = [
    ...Object.entries(usualSpells).map(([name, kind]) => [name, kind] as const),
    ...(lies ? Object.entries(liarSpells) : []),
  ];

  return {
    draw() {
      const begun: Spell[] = [];
      for (const [name, { likelihood, most_s }] of kinds) {
        const spell = name as Spell;
        if ((ends.get(spell) ?? 0) > now_ms() || !fails(`${family}.node.${spell}`, likelihood)) continue;
        ends.set(spell, now_ms() + (1 + random.below(most_s)) * 1_000);
        begun.push(spell);
      }
      return begun;
    },
    has: (spell) => (ends.get(spell) ?? 0) > now_ms(),
    calm: () => ends.clear(),
  };
}
