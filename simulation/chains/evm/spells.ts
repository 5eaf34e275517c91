/** What is wrong with a node for a while. */
import type { Kernel } from '../../kernel/ports.ts';

/** How often a spell begins, each time that the weather is drawn, and how long it lasts at most. */
interface Kind {
  readonly likelihood: number;
  readonly most_blocks: number;
}

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
} as const satisfies Readonly<Record<string, Kind>>;

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
} as const satisfies Readonly<Record<string, Kind>>;

export type Spell = keyof typeof usualSpells | keyof typeof liarSpells;

export interface Spells {
  /** Lets some begin, and others end. @returns those that begin now */
  draw(): readonly Spell[];
  has(spell: Spell): boolean;
  /** All end. */
  calm(): void;
}

interface Where {
  readonly family: string;
  readonly block_ms: number;
  /** Whether it is the node that cannot be trusted. */
  readonly lies: boolean;
}

export function createSpells({ fails, random, now_ms }: Kernel, { family, block_ms, lies }: Where): Spells {
  const ends = new Map<Spell, number>();
  const kinds: readonly (readonly [string, Kind])[] = [
    ...Object.entries(usualSpells).map(([name, kind]) => [name, kind] as const),
    ...(lies ? Object.entries(liarSpells) : []),
  ];

  return {
    draw() {
      const begun: Spell[] = [];
      for (const [name, { likelihood, most_blocks }] of kinds) {
        const spell = name as Spell;
        if ((ends.get(spell) ?? 0) > now_ms() || !fails(`${family}.node.${spell}`, likelihood)) continue;
        ends.set(spell, now_ms() + (1 + random.below(most_blocks)) * block_ms);
        begun.push(spell);
      }
      return begun;
    },
    has: (spell) => (ends.get(spell) ?? 0) > now_ms(),
    calm: () => ends.clear(),
  };
}
