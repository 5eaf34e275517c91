/** One node of a simulated Solana: its progress, and its view of the chain. */
import type { Submitted } from '../../../../sandbox/solana/chain/transaction.ts';
import type { Kernel } from '../../kernel/ports.ts';
import type { SpellsOf } from '../spells.ts';
import type { Landed, Slots } from './slots.ts';

/** Slots that are confirmed before one is final. */
export const final_slots = 12;

export interface SolanaNode {
  readonly kernel: Kernel;
  readonly slots: Slots;
  readonly spells: SpellsOf<'solana'>;
  /** From 0. */
  readonly number: number;
  readonly decimals: ReadonlyMap<string, number>;
  /** Announces a transaction to the leaders. */
  readonly tell: (submitted: Submitted) => void;
  /** Fabricated transactions that it returns while it forges. */
  readonly forged: readonly Landed[];
  hear(slot: number): void;
  /** Newest slot of a commitment, at least the requested one. */
  slotOf(commitment: unknown): number;
  find(signature: string): Landed | undefined;
  /** Newest first. */
  naming(account: string): readonly Landed[];
}

export type SolanaNodeOptions = Omit<SolanaNode, 'hear' | 'slotOf' | 'find' | 'naming'>;

const delayMost_ms = 900;
const late_slots = 4;

export function createSolanaNode(options: SolanaNodeOptions): SolanaNode {
  const { kernel, slots, spells, number, forged } = options;
  let heard: { readonly slot: number; readonly from_ms: number }[] = [];
  let come = slots.head();

  function confirmed(): number {
    if (!spells.has('stays')) {
      const due = heard.filter(({ from_ms }) => from_ms <= kernel.now_ms());
      heard = heard.slice(due.length);
      come = due.at(-1)?.slot ?? come;
    }
    return Math.max(1, Math.min(come, slots.head()) - (spells.has('lags') ? 3 + number : 0));
  }

  return {
    ...options,
    hear: (slot) => void heard.push({ slot, from_ms: kernel.now_ms() + kernel.random.below(delayMost_ms) }),
    slotOf: (commitment) => (commitment === 'confirmed' ? confirmed() : Math.max(1, confirmed() - final_slots)),
    find(signature) {
      if (spells.has('hidesTransactions')) return undefined;
      const found = slots.find(signature);
      return found ?? (spells.has('forges') ? forged.find((each) => each.signature === signature) : undefined);
    },
    naming(account) {
      if (spells.has('hidesHistories') || spells.has('hidesTransactions')) return [];
      const end = confirmed() - (spells.has('listsLate') ? late_slots : 0);
      const shown = slots.naming(account).filter(({ slot }) => slot <= end);
      if (!spells.has('forges')) return shown;
      const own = forged.filter(({ accounts }) => accounts.includes(account));
      return [...own, ...shown].toSorted((a, b) => b.slot - a.slot);
    },
  };
}
