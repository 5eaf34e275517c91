/** What came into one token account since it was last read. */
import { inParallel } from '../../inParallel.ts';
import type { ChainNode } from '../../node/jsonRpc.ts';
import { callsAtOnce } from '../config.ts';
import type { AsOf } from '../reads.ts';
import { type Landed, landed, type Seen, signaturesOf, signaturesPerCall } from '../transactions.ts';
import { type Credit, creditsOf, leftIn } from './credits.ts';

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

export interface HistoryPart {
  readonly credits: readonly Credited[];
  readonly readTo: ReadTo;
  /** The newest transaction that the node listed, read or not. */
  readonly newest: string | null;
  /** Whether all that is listed was read. */
  readonly whole: boolean;
}

/** How much of a history is read in one go. Anybody can send transactions to an account, for 0.000005 SOL each. */
export interface ReadMost {
  readonly pages: number;
  readonly transactions: number;
}

/** What a poll spends on one account: all of them wait for it. */
export const mostOfLook: ReadMost = { pages: 1, transactions: 200 };
/** What is spent on an account that is read by itself: 0.1 SOL of somebody who wants to hide a payment. */
export const mostByItself: ReadMost = { pages: 20, transactions: 20_000 };

/**
 * Reads oldest first. Where the listing itself ends early, what is older than its end is not known: nothing counts as read to.
 * @param from where it was read to last; when that transaction has left the chain, everything is read again
 * @throws RpcFailed
 */
export async function readHistory(
  node: ChainNode,
  account: string,
  from: ReadTo,
  asOf: AsOf,
  most: ReadMost = mostByItself,
): Promise<HistoryPart> {
  const { seen, complete } = await signaturesSince(node, account, from, asOf, most.pages);
  const succeeded = seen.filter(({ failed }) => !failed).reverse();
  const asked = succeeded.slice(0, most.transactions);
  const found = await inParallel(asked, callsAtOnce, ({ signature }) => landed(node, signature, asOf.commitment));
  // A transaction that the node lists but does not have yet is read the next time, with all that came after it.
  const missing = found.indexOf(null);
  const transactions = (missing < 0 ? found : found.slice(0, missing)).filter((each) => each !== null);
  const last = transactions.at(-1);
  const before = from.signature === null ? 0n : from.amount;
  const amount = transactions.reduce((held, transaction) => leftIn(account, transaction, held), before);
  return {
    credits: transactions.flatMap((transaction) =>
      creditsOf(transaction)
        .filter((credit) => credit.account === account)
        .map((credit) => ({ credit, transaction })),
    ),
    readTo: complete && last ? { amount, signature: last.signature } : from,
    newest: seen[0]?.signature ?? from.signature,
    whole: complete && transactions.length === succeeded.length,
  };
}

/** Newest first. */
async function signaturesSince(
  node: ChainNode,
  account: string,
  { signature: until }: ReadTo,
  asOf: AsOf,
  pagesMax: number,
): Promise<{ readonly seen: readonly Seen[]; readonly complete: boolean }> {
  const seen: Seen[] = [];
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await signaturesOf(node, account, { until, before: seen.at(-1)?.signature ?? null }, asOf);
    seen.push(...page);
    if (page.length < signaturesPerCall) return { seen, complete: true };
  }
  return { seen, complete: false };
}
