/** What came into one token account since it was last read. */
import type { ChainNode } from '../../node/jsonRpc.ts';
import { type Landed, landedEach, TransactionUnreadable } from '../landed.ts';
import type { AsOf } from '../reads.ts';
import { untilThere } from '../retryBehindNode.ts';
import { type Seen, signaturesOf, signaturesPerCall } from '../transactions.ts';
import { type Credit, changeIn, creditsOf } from './credits.ts';

/** How far an account's history is read. */
export interface ReadTo {
  /** What the account held after the newest transaction that was read. */
  readonly amount: bigint;
  /** Of that transaction. Null: the next time everything is read again, which changes nothing. */
  readonly signature: string | null;
}

export const unread: ReadTo = { amount: 0n, signature: null };

export interface Credited {
  readonly credit: Credit;
  readonly transaction: Landed;
}

/** A transaction that the node lists and that cannot be read as it shows it. */
export interface Unread {
  readonly seen: Seen;
  readonly why: TransactionUnreadable;
}

export interface HistoryPart {
  readonly credits: readonly Credited[];
  readonly unreadable: readonly Unread[];
  readonly readTo: ReadTo;
  /** The newest transaction that the node listed, read or not. */
  readonly newest: string | null;
  /** Whether all that is listed was read. */
  readonly whole: boolean;
  /** Whether that adds up to what the account holds; with what cannot be read among it, nobody can tell, and that is the explanation. */
  readonly explained: boolean;
}

/** How much of a history is read in one go. Anybody can send transactions to an account, for 0.000005 SOL each. */
export interface ReadMost {
  readonly signatures: number;
  readonly transactions: number;
  /** Nodes may give less in one answer than they are asked for. */
  readonly pages: number;
}

/** What a poll spends on one account: all of them wait for it. */
export const mostOfLook: ReadMost = { signatures: 1_000, transactions: 200, pages: 12 };
/** What is spent on an account that is read by itself: 0.1 SOL of somebody who wants to hide a payment. */
export const mostByItself: ReadMost = { signatures: 20_000, transactions: 20_000, pages: 220 };

export interface Held {
  readonly owner: string;
  readonly account: string;
  /** What it holds, in smallest units, at the end of a slot. */
  readonly amount: bigint;
  readonly slot: bigint;
}

/**
 * Reads oldest first. Where the listing itself ends early, what is older than its end is not known: nothing counts as read to. A page that
 * is not full may have been clipped: only what adds up to the balance, or an empty page, says that nothing is older.
 * @param from where it was read to last; when that transaction has left the chain, everything is read again
 * @throws RpcFailed
 */
export async function readHistory(
  node: ChainNode,
  held: Held,
  from: ReadTo,
  asOf: AsOf,
  most: ReadMost = mostByItself,
): Promise<HistoryPart> {
  const transactions = createTransactions(node, asOf);
  const seen: Seen[] = [];
  // The history is asked for later than the balance: what came in between is for the next time.
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

type Transactions = (signatures: readonly string[]) => Promise<readonly (Landed | TransactionUnreadable | null)[]>;

/** @param seen newest first */
async function readSeen(
  seen: readonly Seen[],
  transactions: Transactions,
  { owner, account, amount: balance }: Held,
  from: ReadTo,
  max: number,
): Promise<HistoryPart> {
  const succeeded = seen.filter(({ failed }) => !failed).reverse();
  const asked = succeeded.slice(0, max);
  const found = await transactions(asked.map(({ signature }) => signature));
  // A transaction that the node lists but does not have yet is read the next time, with all that came after it.
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
    // Money leaves a deposit by our own key alone: what cannot be read has brought nothing where the others add up.
    unreadable: addsUp ? [] : unreadable,
    readTo: last === undefined ? from : { amount: explained ? balance : sum, signature: last },
    newest: seen[0]?.signature ?? from.signature,
    whole,
    explained,
  };
}

/** Reads transactions, each once. */
function createTransactions(node: ChainNode, { commitment }: AsOf): Transactions {
  const known = new Map<string, Landed | TransactionUnreadable>();
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
