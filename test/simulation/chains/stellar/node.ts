/** One node of a simulated Stellar: its progress, its view, and its pending transactions. */
import type { Submitted } from '../../../../sandbox/stellar/transactions/envelope.ts';
import type { Kernel } from '../../kernel/ports.ts';
import type { SpellsOf } from '../spells.ts';
import type { Landed, Ledger, Ledgers } from './ledgers.ts';

export interface StellarNode {
  readonly kernel: Kernel;
  readonly ledgers: Ledgers;
  readonly spells: SpellsOf<'stellar'>;
  readonly passphrase: string;
  readonly treasury: string;
  /** From 0. */
  readonly number: number;
  /** Accepted transactions that no ledger holds yet, by source account. */
  readonly waiting: Map<string, Submitted>;
  /** Announces a transaction to the network. */
  readonly tell: (submitted: Submitted) => void;
  /** Fabricated transactions that it returns while it forges. */
  readonly forged: readonly Landed[];
  /** Current minimum offer of an operation on the network, in stroops. */
  readonly inclusion: () => bigint;
  /** Receives a new ledger a little later. */
  hear(ledger: Ledger): void;
  latest(): Ledger;
  oldest(): Ledger;
  /** Transactions in its view, oldest first. */
  shown(): readonly Landed[];
}

export type StellarNodeOptions = Pick<
  StellarNode,
  'kernel' | 'ledgers' | 'spells' | 'passphrase' | 'treasury' | 'number' | 'tell' | 'forged' | 'inclusion'
>;

const delayMost_ms = 900;
const remembered_ledgers = 3;
const ahead_s = 3_600;

export function createStellarNode(options: StellarNodeOptions): StellarNode {
  const { kernel, ledgers, spells, number, forged } = options;
  let heard: { readonly sequence: number; readonly from_ms: number }[] = [];
  let come = ledgers.head().sequence;
  const waiting = new Map<string, Submitted>();

  function sequence(): number {
    if (!spells.has('stays')) {
      const due = heard.filter(({ from_ms }) => from_ms <= kernel.now_ms());
      heard = heard.slice(due.length);
      come = due.at(-1)?.sequence ?? come;
    }
    return Math.max(ledgers.first().sequence, come - (spells.has('lags') ? 1 + number : 0));
  }

  const at = (wanted: number): Ledger => ledgers.at(wanted) ?? ledgers.first();

  return {
    ...options,
    waiting,
    hear: ({ sequence: next }) =>
      void heard.push({ sequence: next, from_ms: kernel.now_ms() + kernel.random.below(delayMost_ms) }),
    latest() {
      const latest = at(sequence());
      return spells.has('runsAhead') ? { ...latest, closedAt_s: latest.closedAt_s + ahead_s } : latest;
    },
    oldest: () => (spells.has('forgets') ? at(sequence() - remembered_ledgers) : ledgers.first()),
    shown() {
      if (spells.has('hidesTransactions')) return [];
      const [from, to] = [this.oldest().sequence, sequence()];
      const known = ledgers.busy().filter(({ sequence: each }) => each >= from && each <= to);
      const landed = known.flatMap((ledger) => ledger.landed);
      return spells.has('forges')
        ? inOrder([...landed, ...forged.filter(({ record }) => record.ledger <= to)])
        : landed;
    },
  };
}

const inOrder = (landed: readonly Landed[]): readonly Landed[] =>
  landed.toSorted((a, b) => a.record.ledger - b.record.ledger || a.record.order - b.record.order);
