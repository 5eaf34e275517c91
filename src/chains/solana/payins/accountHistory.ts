/** Receipts of one token account since the last read. */
import type { ChainNode } from '../../node/jsonRpc.ts';
import {
  type LandedTransaction,
  type ListedSignature,
  landedEach,
  signaturesOf,
  signaturesPerCall,
  TransactionUnreadable,
} from '../landed.ts';
import { type ReadContext, untilThere } from '../reads.ts';
import { type Credit, changeIn, creditsOf } from './credits.ts';

/** End of the last read of an account's history. */
export interface ReadTo {
  /** Balance after the newest transaction that was read. */
  readonly amount: bigint;
  /** Signature of that transaction. Null: the next read covers everything again, which changes nothing. */
  readonly signature: string | null;
}

export const unread: ReadTo = { amount: 0n, signature: null };

export interface Credited {
  readonly credit: Credit;
  readonly transaction: LandedTransaction;
}

/** A listed transaction that cannot be parsed. */
export interface Unread {
  readonly seen: ListedSignature;
  readonly why: TransactionUnreadable;
}

export interface HistoryPart {
  readonly credits: readonly Credited[];
  readonly unreadable: readonly Unread[];
  readonly readTo: ReadTo;
  /** Newest listed transaction, read or not. */
  readonly newest: string | null;
  /** True if all listed transactions were read. */
  readonly whole: boolean;
  /** True if they add up to the balance. Unreadable ones make it undecidable, and are an explanation too. */
  readonly explained: boolean;
}

/** Limits of one read of a history. Anyone can send transactions to an account, for 0.000005 SOL each. */
export interface ReadMost {
  readonly signatures: number;
  readonly transactions: number;
  /** Nodes may return less in one answer than requested. */
  readonly pages: number;
}

/** Limits per account in a poll, because all accounts wait for it. */
export const mostOfLook: ReadMost = { signatures: 1_000, transactions: 200, pages: 12 };
/** Limits for an account that is read separately: hiding a payment would cost 0.1 SOL. */
export const mostByItself: ReadMost = { signatures: 20_000, transactions: 20_000, pages: 220 };

export interface HeldTokenAccount {
  readonly owner: string;
  readonly account: string;
  /** Balance in smallest units at the end of a slot. */
  readonly amount: bigint;
  readonly slot: bigint;
}

/**
 * Reads oldest first. If the listing itself ends early, older transactions are unknown, so the read does not count. A partial page may have
 * been clipped: only a sum equal to the balance, or an empty page, proves the end.
 * @param from end of the last read; if that transaction has left the chain, everything is read again
 * @throws RpcFailed
 */
export async function readHistory(
  node: ChainNode,
  held: HeldTokenAccount,
  from: ReadTo,
  asOf: ReadContext,
  most: ReadMost = mostByItself,
): Promise<HistoryPart> {
  const transactions = createTransactions(node, asOf);
  const seen: ListedSignature[] = [];
  // The history is queried after the balance: newer transactions are left for the next read.
  const read = () =>
    readSeen(
      seen.filter(({ slot }) => slot <= held.slot),
      transactions,
      held,
      from,
      most.transactions,
    );
  for (let pages = 0; pages < most.pages && seen.length < most.signatures; pages++) {
    const between = { until: from.signature, before: seen.at(-1)?.signature ?? null };
    const page = await signaturesOf(node, held.account, between, asOf);
    seen.push(...page);
    const ended = page.length === 0;
    if (!ended && (page.length >= signaturesPerCall || seen.length > most.transactions)) continue;
    const part = await read();
    if (ended || part.explained) return part;
  }
  return { ...(await read()), readTo: from, whole: false, explained: false };
}

type Transactions = (
  signatures: readonly string[],
) => Promise<readonly (LandedTransaction | TransactionUnreadable | null)[]>;

/** @param seen newest first */
async function readSeen(
  seen: readonly ListedSignature[],
  transactions: Transactions,
  { owner, account, amount: balance }: HeldTokenAccount,
  from: ReadTo,
  max: number,
): Promise<HistoryPart> {
  const succeeded = seen.filter(({ failed }) => !failed).reverse();
  const asked = succeeded.slice(0, max);
  const found = await transactions(asked.map(({ signature }) => signature));
  // A listed transaction that the node does not have yet is read the next time, with all later ones.
  const missing = found.indexOf(null);
  const there = asked.slice(0, missing < 0 ? found.length : missing);
  const shown = there.map((each, at) => ({ seen: each, read: found[at] ?? null }));
  const read = shown.flatMap(({ read }) => (read === null || read instanceof TransactionUnreadable ? [] : [read]));
  const unreadable = shown.flatMap(({ seen, read }) =>
    read instanceof TransactionUnreadable ? [{ seen, why: read }] : [],
  );
  const before = from.signature === null ? 0n : from.amount;
  const sum = read.reduce((amount, transaction) => amount + changeIn(account, transaction), before);
  const whole = there.length === succeeded.length;
  const addsUp = whole && sum === balance;
  const explained = addsUp || (whole && unreadable.length > 0);
  const last = there.at(-1)?.signature;
  return {
    credits: read.flatMap((transaction) =>
      creditsOf(transaction, [owner])
        .filter((credit) => credit.account === account)
        .map((credit) => ({ credit, transaction })),
    ),
    // Only our own key debits a deposit: if readable transactions explain the balance, unreadable ones credited nothing.
    unreadable: addsUp ? [] : unreadable,
    readTo: last === undefined ? from : { amount: explained ? balance : sum, signature: last },
    newest: seen[0]?.signature ?? from.signature,
    whole,
    explained,
  };
}

/** Reads transactions, each once. */
function createTransactions(node: ChainNode, { commitment }: ReadContext): Transactions {
  const known = new Map<string, LandedTransaction | TransactionUnreadable>();
  return async (signatures) => {
    const wanted = signatures.filter((signature) => !known.has(signature));
    const found = await untilThere(wanted, (asked) => landedEach(node, asked, commitment));
    for (const [at, signature] of wanted.entries()) {
      const each = found[at];
      if (each) known.set(signature, each);
    }
    return signatures.map((signature) => known.get(signature) ?? null);
  };
}
