/** Temporary conditions of nodes: tables of each chain family, and their beginning and end. */
import type { ChainFamily } from '../../../domain/chains.ts';
import type { Kernel } from '../kernel/ports.ts';

/** Probability that a spell begins at each draw of the weather, and its maximum duration. */
export interface SpellKind {
  readonly likelihood: number;
  readonly most_blocks: number;
}

type SpellTable = Readonly<Record<string, SpellKind>>;

/** `lags`: it is some blocks behind. `stays`: it receives no new blocks. `away`: it does not answer. `fails`: it answers with an internal error. `crowded`: it accepts no more calls. */
const common = {
  lags: { likelihood: 0.02, most_blocks: 12 },
  stays: { likelihood: 0.01, most_blocks: 16 },
  away: { likelihood: 0.01, most_blocks: 8 },
  fails: { likelihood: 0.01, most_blocks: 4 },
  crowded: { likelihood: 0.01, most_blocks: 4 },
} as const satisfies SpellTable;

/** The node accepts transactions and announces none. */
const swallows = { likelihood: 0.02, most_blocks: 8 } as const satisfies SpellKind;

/** Conditions of any node. The order of a table is the order of the draws: another one changes every recorded run. */
const usualSpells = {
  /**
   * `prunes`: the node has only the newest states. `indexesLate`: it lacks receipts of its newest blocks. `finalizedStays`: its tag does not
   * move. `searchesLate`: its logs are behind its blocks.
   */
  evm: {
    ...common,
    prunes: { likelihood: 0.01, most_blocks: 24 },
    indexesLate: { likelihood: 0.01, most_blocks: 8 },
    finalizedStays: { likelihood: 0.01, most_blocks: 16 },
    searchesLate: { likelihood: 0.01, most_blocks: 8 },
    swallows,
  },
  /** `listsLate`: accounts' histories are behind the node's blocks. `newestMissing`: it reports slots whose blocks it does not have yet. */
  solana: {
    ...common,
    swallows,
    listsLate: { likelihood: 0.02, most_blocks: 8 },
    newestMissing: { likelihood: 0.02, most_blocks: 8 },
  },
  /** `isBusy`: the node refuses transactions for now. */
  stellar: { ...common, swallows, isBusy: { likelihood: 0.02, most_blocks: 4 } },
} as const satisfies Readonly<Record<ChainFamily, SpellTable>>;

/** Conditions of a chain's one untrusted node. `hidesTransactions`: it knows no transaction. `forges`: it returns fabricated payments. */
const liarSpells = {
  /**
   * `hidesLogs`: the node's searches are empty. `finalizesAll`: it reports its newest block as final. `asksForMore`: gas costs a hundred times
   * as much. `branches`: it returns a branch of its own, with fabricated payments and without some real ones.
   */
  evm: {
    hidesLogs: { likelihood: 0.01, most_blocks: 12 },
    hidesTransactions: { likelihood: 0.01, most_blocks: 12 },
    finalizesAll: { likelihood: 0.02, most_blocks: 24 },
    asksForMore: { likelihood: 0.01, most_blocks: 12 },
    branches: { likelihood: 0.02, most_blocks: 30 },
  },
  /**
   * `hidesHistories`: the node's lists are empty. `expiresAll`: it reports every signed transaction as expired. `asksForMore`: priority costs a
   * thousand times as much.
   */
  solana: {
    hidesHistories: { likelihood: 0.01, most_blocks: 12 },
    hidesTransactions: { likelihood: 0.02, most_blocks: 60 },
    expiresAll: { likelihood: 0.02, most_blocks: 30 },
    forges: { likelihood: 0.02, most_blocks: 12 },
    asksForMore: { likelihood: 0.01, most_blocks: 12 },
  },
  /**
   * `hidesEvents`: the node returns no transfers. `forgets`: it remembers only a few ledgers. `countsOn`: it reports the pending sequence
   * number as used. `runsAhead`: its newest ledger closed an hour from now.
   */
  stellar: {
    hidesEvents: { likelihood: 0.01, most_blocks: 12 },
    hidesTransactions: { likelihood: 0.02, most_blocks: 70 },
    forgets: { likelihood: 0.01, most_blocks: 12 },
    countsOn: { likelihood: 0.01, most_blocks: 12 },
    runsAhead: { likelihood: 0.01, most_blocks: 12 },
    forges: { likelihood: 0.02, most_blocks: 12 },
  },
} as const satisfies Readonly<Record<ChainFamily, SpellTable>>;

type SpellName<Family extends ChainFamily> = (keyof (typeof usualSpells)[Family] | keyof (typeof liarSpells)[Family]) &
  string;

/** Conditions of one node of a family. */
export type SpellsOf<Family extends ChainFamily> = Spells<SpellName<Family>>;

interface Spells<Name extends string> {
  /** Lets some begin, and others end. @returns those that begin now */
  draw(): readonly Name[];
  has(spell: Name): boolean;
  /** All end. */
  calm(): void;
}

interface SpellsOptions<Family extends ChainFamily> {
  /** Its faults are called `<family>.node.<spell>`. */
  readonly family: Family;
  readonly block_ms: number;
  readonly isLiar: boolean;
}

export function createSpells<Family extends ChainFamily>(
  { fails, random, now_ms }: Kernel,
  { family, block_ms, isLiar }: SpellsOptions<Family>,
): SpellsOf<Family> {
  type Name = SpellName<Family>;
  const ends = new Map<Name, number>();
  const all = Object.entries<SpellKind>({ ...usualSpells[family], ...(isLiar && liarSpells[family]) });

  return {
    draw() {
      const begun: Name[] = [];
      for (const [name, { likelihood, most_blocks }] of all) {
        const spell = name as Name;
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
