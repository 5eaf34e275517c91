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
}

/** 20,000 transactions between two polls: to hide a payment behind more would cost 0.1 SOL, and somebody's payment to themselves. */
const pagesMax = 20;

/** @param from where it was read to last; when that transaction has left the chain, everything is read again @throws RpcFailed */
export async function readHistory(node: ChainNode, account: string, from: ReadTo, asOf: AsOf): Promise<HistoryPart> {
  const succeeded = (await signaturesSince(node, account, from, asOf)).filter(({ failed }) => !failed).reverse();
  const found = await inParallel(succeeded, callsAtOnce, ({ signature }) => landed(node, signature, asOf.commitment));
  // A transaction that the node lists but does not have yet is read the next time, with all that came after it.
  const missing = found.indexOf(null);
  const transactions = (missing < 0 ? found : found.slice(0, missing)).filter((each) => each !== null);
  const newest = transactions.at(-1);
  return {
    credits: transactions.flatMap((transaction) =>
      creditsOf(transaction)
        .filter((credit) => credit.account === account)
        .map((credit) => ({ credit, transaction })),
    ),
    readTo: newest ? { amount: leftIn(account, newest), signature: newest.signature } : from,
  };
}

/** Newest first. */
async function signaturesSince(
  node: ChainNode,
  account: string,
  { signature: until }: ReadTo,
  asOf: AsOf,
): Promise<readonly Seen[]> {
  const found: Seen[] = [];
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await signaturesOf(node, account, { until, before: found.at(-1)?.signature ?? null }, asOf);
    found.push(...page);
    if (page.length < signaturesPerCall) break;
  }
  return found;
}
