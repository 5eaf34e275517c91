/** Transactions, events and close times that the node still remembers. */
import { xdr } from '@stellar/stellar-sdk';
import type { LedgerHead } from '../ledger/network.ts';
import type { TransactionRecord } from '../transactions/apply.ts';
import { base64, contractText } from '../xdr.ts';
import { eventId, type Position, transactionMax } from './eventIds.ts';

export interface EventRecord {
  readonly id: string;
  readonly position: Position;
  readonly contractId: string;
  readonly transaction: TransactionRecord;
  /** Base64 XDR each, for exact matches. */
  readonly topics: readonly string[];
  readonly value: string;
}

export interface History {
  head(): LedgerHead;
  /** Close time of a remembered ledger, in Unix seconds. */
  closedAt_s(sequence: number): number;
  /** The first remembered ledger. */
  oldest(): LedgerHead;
  /** A ledger closed, with these transactions in order. */
  add(ledger: LedgerHead, transactions: readonly TransactionRecord[]): void;
  /** Ledgers up to this one closed empty. */
  skipTo(sequence: number): void;
  /** Forgets everything before a ledger. */
  forget(before: number): void;
  /** By the hash of the envelope or, for a fee bump, of the wrapped transaction. */
  find(hash: string): TransactionRecord | undefined;
  transactions(): readonly TransactionRecord[];
  /** In the order of their ids. */
  events(): readonly EventRecord[];
}

/** @param retention_ledgers number of remembered ledgers */
export function createHistory(first: LedgerHead, retention_ledgers: number): History {
  const byHash = new Map<string, TransactionRecord>();
  const times = createCloseTimes();
  let transactions: TransactionRecord[] = [];
  let events: EventRecord[] = [];
  let head = first;
  let oldest = first.sequence;
  times.add(first);

  const forgetTransactions = () => {
    if ((transactions[0]?.ledger ?? oldest) >= oldest) return;
    for (const { ledger, hash, innerHash } of transactions) {
      if (ledger >= oldest) break;
      byHash.delete(hash);
      if (innerHash) byHash.delete(innerHash);
    }
    transactions = transactions.filter(({ ledger }) => ledger >= oldest);
    events = events.filter(({ position }) => position.ledger >= oldest);
  };

  const self: History = {
    head: () => head,
    closedAt_s: (sequence) => times.at(sequence),
    oldest: () => ({ sequence: oldest, closedAt_s: times.at(oldest) }),
    add(ledger, added) {
      head = ledger;
      times.add(ledger);
      for (const transaction of added) {
        byHash.set(transaction.hash, transaction);
        if (transaction.innerHash) byHash.set(transaction.innerHash, transaction);
      }
      transactions.push(...added);
      events.push(...feeEvents(added, 'before'), ...added.flatMap(operationEvents), ...feeEvents(added, 'after'));
      self.forget(ledger.sequence - retention_ledgers + 1);
    },
    skipTo(sequence) {
      head = { ...head, sequence };
    },
    forget(before) {
      if (before <= oldest) return;
      oldest = Math.min(before, head.sequence);
      times.forget(oldest);
      forgetTransactions();
    },
    find: (hash) => byHash.get(hash),
    transactions: () => transactions,
    events: () => events,
  };
  return self;
}

const metaOf = ({ resultMetaXdr }: TransactionRecord) => xdr.TransactionMeta.fromXDR(resultMetaXdr, 'base64').v4();

const feeStages = {
  before: { name: 'transactionEventStageBeforeAllTxes', transaction: 0 },
  after: { name: 'transactionEventStageAfterAllTxes', transaction: transactionMax },
};

/** Events of fees precede all transactions of their ledger, those of refunds follow them; both are numbered consecutively. */
function feeEvents(ledger: readonly TransactionRecord[], stage: keyof typeof feeStages): EventRecord[] {
  const { name, transaction: order } = feeStages[stage];
  const fees = ledger.flatMap((transaction) =>
    metaOf(transaction)
      .events()
      .filter((fee) => fee.stage().name === name)
      .map((fee) => ({ transaction, fee })),
  );
  return fees.map(({ transaction, fee }, index) =>
    eventRecord(transaction, { ledger: transaction.ledger, transaction: order, operation: 0 }, index, fee.event()),
  );
}

function operationEvents(transaction: TransactionRecord): EventRecord[] {
  return metaOf(transaction)
    .operations()
    .flatMap((meta, operation) =>
      meta
        .events()
        .map((event, index) =>
          eventRecord(
            transaction,
            { ledger: transaction.ledger, transaction: transaction.order, operation },
            index,
            event,
          ),
        ),
    );
}

/** An event as the RPC returns it. */
export function eventRecord(
  transaction: TransactionRecord,
  position: Position,
  index: number,
  event: xdr.ContractEvent,
): EventRecord {
  const contract = event.contractId();
  const body = event.body().v0();
  return {
    id: eventId(position, index),
    position,
    contractId: contract ? contractText(contract) : '',
    transaction,
    topics: body.topics().map(base64),
    value: base64(body.data()),
  };
}

/** Close times of ledgers. Only times later than the previous one are stored. */
interface CloseTimes {
  add(ledger: LedgerHead): void;
  /** Unix seconds. */
  at(sequence: number): number;
  forget(before: number): void;
}

function createCloseTimes(): CloseTimes {
  const times: LedgerHead[] = [];
  return {
    add(ledger) {
      if (times.at(-1)?.closedAt_s !== ledger.closedAt_s) times.push(ledger);
    },
    at: (wanted) => (times.findLast(({ sequence }) => sequence <= wanted) ?? times[0])?.closedAt_s ?? 0,
    forget(before) {
      const kept = times.findLastIndex(({ sequence }) => sequence <= before);
      if (kept > 0) times.splice(0, kept);
    },
  };
}
