/** The chain of ledgers: each is on disk before anyone can read it. */

import type { LedgerHead, Network } from '../ledger/network.ts';
import { createState, type LedgerState } from '../ledger/state.ts';
import type { View } from '../ledger/view.ts';
import { applyTransaction, type TransactionRecord } from '../transactions/apply.ts';
import type { Submitted } from '../transactions/envelope.ts';
import { validate } from '../transactions/validity.ts';
import { createHistory, type History } from './history.ts';
import { type JournalLine, openJournal, readJournal } from './journal.ts';

export interface Chain {
  readonly network: Network;
  readonly state: LedgerState;
  readonly history: History;
  /** The next ledger if it closed now, at least `seconds` after the last one. */
  next(seconds?: number): LedgerHead;
  /** Closes a ledger with the transactions that are still valid. */
  close(transactions: readonly Submitted[], seconds?: number): void;
  /** Closes a ledger with entries that are not from transactions. */
  plant(write: (view: View) => void): void;
  stop(): void;
}

export interface ChainOptions {
  readonly network: Network;
  /** Default: in memory only. */
  readonly stateFile?: string | undefined;
  /** Number of remembered ledgers. */
  readonly retention_ledgers: number;
  /** Unix seconds. */
  readonly now_s: () => number;
  /** Writes the initial state of a new chain. */
  readonly genesis: (view: View) => void;
}

const firstLedger = 1_000;
/** Maximum empty ledgers that close without a line in the journal. After a kill, the chain continues after them. */
const reserve_ledgers = 256;

export function openChain(options: ChainOptions): Chain {
  const { network, now_s, stateFile } = options;
  const lines = stateFile ? readJournal(stateFile, network.passphrase) : [];
  const { state, history } = restore(lines, options);
  const journal = stateFile ? openJournal(stateFile, network.passphrase, compacted(state, history)) : undefined;
  let reserved = 0;

  const advance = (ledger: LedgerHead, transactions: readonly TransactionRecord[]) => {
    const entries = state.takeChanged();
    if (Object.keys(entries).length > 0 || ledger.sequence > reserved) {
      reserved = ledger.sequence + reserve_ledgers;
      journal?.append({ ledger: ledger.sequence, closedAt_s: ledger.closedAt_s, reserved, entries, transactions });
    }
    history.add(ledger, transactions);
  };

  const self: Chain = {
    network,
    state,
    history,
    next(seconds = 0) {
      const { sequence, closedAt_s } = history.head();
      return { sequence: sequence + 1, closedAt_s: Math.max(closedAt_s + seconds, now_s()) };
    },
    close(transactions, seconds) {
      const ledger = self.next(seconds);
      const records: TransactionRecord[] = [];
      for (const submitted of transactions) {
        if (validate(submitted, state, ledger) !== undefined) continue;
        records.push(applyTransaction({ network, ledger, state, order: records.length + 1 }, submitted));
      }
      advance(ledger, records);
    },
    plant(write) {
      const ledger = self.next();
      const view = state.view();
      write(view);
      state.apply(view.changes(), ledger.sequence);
      advance(ledger, []);
    },
    stop() {
      const { sequence, closedAt_s } = history.head();
      journal?.append({ ledger: sequence, closedAt_s, reserved: sequence, entries: {}, transactions: [] });
      journal?.close();
    },
  };
  if (lines.length === 0) self.plant(options.genesis);
  return self;
}

function restore(lines: readonly JournalLine[], { retention_ledgers, now_s }: ChainOptions) {
  const state = createState();
  const [first] = lines;
  const begin = first
    ? { sequence: first.ledger, closedAt_s: first.closedAt_s }
    : { sequence: firstLedger, closedAt_s: now_s() };
  const history = createHistory(begin, retention_ledgers);
  for (const { ledger, closedAt_s, entries, transactions, reserved } of lines) {
    state.load(entries);
    history.add({ sequence: ledger, closedAt_s }, transactions);
    history.skipTo(reserved);
  }
  return { state, history };
}

/** Remembered ledgers, then all entries. */
function compacted(state: LedgerState, history: History): readonly JournalLine[] {
  const bare = ({ sequence, closedAt_s }: LedgerHead): JournalLine => ({
    ledger: sequence,
    closedAt_s,
    reserved: sequence,
    entries: {},
    transactions: [],
  });
  const ledgers = [...Map.groupBy(history.transactions(), ({ ledger }) => ledger)];
  return [
    bare(history.oldest()),
    ...ledgers.map(([sequence, transactions]) => {
      const closedAt_s = transactions[0]?.createdAt_s ?? 0;
      return { ...bare({ sequence, closedAt_s }), transactions };
    }),
    { ...bare(history.head()), entries: state.dump() },
  ];
}
