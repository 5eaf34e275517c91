/** What came into one token account, from where it was last read. */
import { inParallel } from '../../inParallel.ts';
import type { ChainNode } from '../../node/jsonRpc.ts';
import { type AsOf, type Landed, landed, type Seen, signaturesOf, signaturesPerCall } from '../reads.ts';
import { type Credit, creditsOf, leftIn } from './credits.ts';

/** How far an account's history is read. */
export interface ReadTo {
  /** What the newest transaction that was read has left in it. */
  readonly amount: bigint;
  /** Of that transaction; null: the next time everything is read again, which changes nothing. */
  readonly signature: string | null;
}

export const unread: ReadTo = { amount: 0n, signature: null };

export interface AccountNews {
  readonly credits: readonly { readonly credit: Credit; readonly transaction: Landed }[];
  readonly readTo: ReadTo;
}

/** 20,000 transactions between two looks: to hide a payment behind more would cost 0.1 SOL, and somebody's payment to themselves. */
const pagesMax = 20;
const callsAtOnce = 4;

/** @param to where it was read to last; when that transaction has left the chain, everything is read again @throws RpcFailed */
export async function newsOf(node: ChainNode, account: string, to: ReadTo, asOf: AsOf): Promise<AccountNews> {
  const succeeded = (await signaturesSince(node, account, to, asOf)).filter(({ failed }) => !failed).reverse();
  const found = await inParallel(succeeded, callsAtOnce, ({ signature }) => landed(node, signature, asOf.commitment));
  // What the node lists but does not have yet is read next time, and so is all that came after it.
  const missing = found.indexOf(null);
  const transactions = (missing < 0 ? found : found.slice(0, missing)).filter((each) => each !== null);
  const newest = transactions.at(-1);
  return {
    credits: transactions.flatMap((transaction) =>
      creditsOf(transaction)
        .filter((credit) => credit.account === account)
        .map((credit) => ({ credit, transaction })),
    ),
    readTo: newest ? { amount: leftIn(account, newest), signature: newest.signature } : to,
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
