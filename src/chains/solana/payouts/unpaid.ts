/** Searches the chain for a payout that the log is about to make: without nonces, nothing else reveals that the log is an old copy. */

import { boundedMap } from '../../../lib/cache.ts';
import { inParallel } from '../../../lib/concurrency.ts';
import { nodesNeeded } from '../../node/agreement.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { type ChainRpc, ChainUnavailable } from '../../node/nodes.ts';
import { PayoutBlocked } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import { landed, landedEach, TransactionUnreadable } from '../landed.ts';
import { accountsOf, type ReadContext } from '../reads.ts';
import { untilThere } from '../retryBehindNode.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { type ListedSignature, signatureStatus, signaturesOf } from '../transactions.ts';

/** The node answers, but its list of the treasury account's transactions does not lead to the balance. */
export class HistoryNotWhole extends RpcFailed {
  constructor(node: string, detail: string) {
    super(node, 'getSignaturesForAddress', 'refused', detail);
  }
}
const readAtOnce = 10;
const nodesMax = 100;

/** Newest listed transaction, and the balance after the newest one with token data. */
interface Told {
  readonly signature: string;
  readonly amount: bigint;
}

export type CheckWhole = (node: ChainNode, mint: string) => Promise<void>;

/**
 * Checks that a node's index of account transactions exists and is current. An empty or stopped index lists no payout that the chain made,
 * and an old copy of the log lacks it as well. So the treasury's balance must equal the result of its newest listed transaction.
 * @returns a function that throws HistoryNotWhole, RpcFailed if the node cannot answer
 */
export function createWholeCheck(treasury: string): CheckWhole {
  const known = boundedMap<Told>(nodesMax);

  const keyOf = (node: ChainNode, account: string): string => `${node.name} ${account}`;

  /** @param last newest transaction of the previous list; undefined for none */
  async function lastTold(node: ChainNode, account: string, last: Told | undefined): Promise<bigint | null> {
    const key = keyOf(node, account);
    const seen: ListedSignature[] = [];
    for (let pages = 0; pages < pagesMax && seen.length < listedMax; pages++) {
      const between = { until: last?.signature ?? null, before: seen.at(-1)?.signature ?? null };
      const page = await signaturesOf(node, account, between, asOf);
      seen.push(...page);
      const amount = page.length === 0 ? last?.amount : await leftBy(node, account, page);
      if (amount === undefined && page.length > 0) continue;
      const signature = seen[0]?.signature ?? last?.signature;
      if (amount !== undefined && signature !== undefined) known.set(key, { signature, amount });
      return amount ?? null;
    }
    throw new HistoryNotWhole(node.name, `${seen.length} transactions of ${account} tell nothing of its tokens`);
  }

  return async (node, mint) => {
    const account = tokenAccountOf(treasury, mint);
    let shown = '';
    async function leadsThere(last: Told | undefined): Promise<boolean> {
      const found = await accountsOf(node, [account], asOf);
      const held = tokenAccountIn(found.accounts[0])?.amount ?? 0n;
      const left = await lastTold(node, account, last).catch(orUnreadable);
      const listed = left === null ? 'no transaction of it is listed' : `the newest that is listed left ${left}`;
      shown = left instanceof TransactionUnreadable ? left.detail : `${account} holds ${held}, and ${listed}`;
      return !(left instanceof TransactionUnreadable) && held === (left ?? 0n);
    }
    // The index may lag a moment behind the balance, and a listed transaction may be newer than the balance.
    const [soon] = await untilThere([account], async () =>
      (await leadsThere(known.get(keyOf(node, account)))) ? [true] : [null],
    );
    // A fork may undo a confirmed transaction: it returns after others with another balance, or never.
    const whole = soon ?? (await leadsThere(undefined));
    if (!whole) throw new HistoryNotWhole(node.name, shown);
  };
}

function orUnreadable(error: unknown): TransactionUnreadable {
  if (error instanceof TransactionUnreadable) return error;
  throw error;
}

/** Balance of the account after the newest transaction with its token data, newest first; undefined if none has any. */
async function leftBy(node: ChainNode, account: string, page: readonly ListedSignature[]): Promise<bigint | undefined> {
  const succeeded = page.filter(({ failed }) => !failed).map(({ signature }) => signature);
  for (let at = 0; at < succeeded.length; at += at === 0 ? 1 : readAtOnce) {
    const asked = succeeded.slice(at, at + (at === 0 ? 1 : readAtOnce));
    for (const [place, found] of (await landedEach(node, asked, asOf.commitment)).entries()) {
      if (found instanceof TransactionUnreadable) throw found;
      if (!found)
        throw new RpcFailed(node.name, 'getTransaction', 'refused', `it lists ${asked[place]} and does not have it`);
      const balance = found.after.find((each) => each.account === account);
      if (balance) return balance.amount;
    }
  }
  return undefined;
}

const asOf: ReadContext = { commitment: 'confirmed' };
/** Only public references can gather this many: a secret one is unknown until it is no longer needed. */
const listedMax = 5_000;
/** Nodes may return less in one answer than requested. */
const pagesMax = 60;
const strangersMax = 20_000;

export interface Unpaid {
  readonly reference: string;
  readonly isSecret: boolean;
  /** Hashes of attempts that were given up. */
  readonly earlier: readonly string[];
  /** Amount at risk in whole tokens. */
  readonly usd: bigint;
  /** Mint of the treasury's account that proves a node's complete history; null for the coin, which has none. */
  readonly mint: string | null;
}

export type CheckUnpaid = (rpc: ChainRpc, order: Unpaid) => Promise<void>;

/** Only transactions paid by the treasury count, because only it can sign those. Others are read once, and remembered as foreign. */
export function createUnpaidCheck(treasury: string): CheckUnpaid {
  const strangers = new Set<string>();
  const checkWhole = createWholeCheck(treasury);

  async function isTreasurys(node: ChainNode, { signature }: ListedSignature, reference: string): Promise<boolean> {
    const found = await landed(node, signature, asOf.commitment).catch((error: unknown) => {
      if (error instanceof TransactionUnreadable) throw behindChain(`${error.detail}; transactions`, reference);
      throw error;
    });
    if (!found)
      throw new RpcFailed(node.name, 'getTransaction', 'refused', `it lists ${signature} and does not have it`);
    if (found.accounts[0] === treasury) return true;
    if (strangers.size >= strangersMax) strangers.clear();
    strangers.add(signature);
    return false;
  }

  async function checkAt(node: ChainNode, order: Unpaid): Promise<void> {
    const found = await landedEach(node, order.earlier, asOf.commitment);
    for (const each of found) {
      if (each instanceof TransactionUnreadable) throw behindChain(`${each.detail}; transactions`, order.reference);
      if (each && !each.failed) throw behindChain(`transaction ${each.signature}, given up for dead,`, order.reference);
    }
    for (const signature of order.earlier) {
      const { status } = await signatureStatus(node, signature);
      if (status && status.error === null)
        throw behindChain(`transaction ${signature}, given up for dead,`, order.reference);
    }
    await checkListed(node, order);
    if (order.mint !== null) await checkWhole(node, order.mint);
  }

  async function checkListed(node: ChainNode, { reference, isSecret }: Unpaid): Promise<void> {
    let before: string | null = null;
    let listed = 0;
    for (let pages = 0; pages < pagesMax && listed < listedMax; pages++) {
      const page = await signaturesOf(node, reference, { until: null, before }, asOf);
      const telling = page.filter(({ failed, signature }) => (isSecret || !failed) && !strangers.has(signature));
      const own = await inParallel(telling, callsAtOnce, async (seen) =>
        (await isTreasurys(node, seen, reference)) ? [seen] : [],
      );
      const [first] = own.flat();
      if (first) throw behindChain(`transaction ${first.signature}`, reference);
      if (page.length === 0) return;
      listed += page.length;
      before = page.at(-1)?.signature ?? null;
    }
    throw behindChain(`${listed} transactions or more`, reference);
  }

  /**
   * A secret reference changes after each failed transaction on the chain, so a failed transaction unknown to the log proves as much as a
   * successful one. One node's index may be empty: the required number of nodes is queried, if there are that many, plus the signatures of
   * given-up attempts; a node whose list does not lead to the treasury's balance does not count.
   * @throws PayoutBlocked if a transaction of the treasury has the reference, there are too many to check, or a node's list is incomplete
   * and too few others can answer
   * @throws ChainUnavailable if too few nodes answer
   */
  return async (rpc, order) => {
    const outcomes = await rpc.allSettled((node) => checkAt(node, order));
    const failures = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as RpcFailed] : [],
    );
    const needed = Math.min(nodesNeeded(rpc.agree, order.usd), rpc.nodes.length);
    if (outcomes.length - failures.length >= needed) return;
    const gap = failures.find((failure) => failure instanceof HistoryNotWhole);
    throw gap ? unproven(gap) : new ChainUnavailable(rpc.chainId, failures);
  };
}

const unproven = ({ message }: HistoryNotWhole): PayoutBlocked =>
  new PayoutBlocked(
    'historyUnproven',
    `nothing is signed while a node does not show the treasury’s whole history, for it may have paid this already: ${message}. Name another provider in RPC_URLS_501`,
  );

const behindChain = (what: string, reference: string): PayoutBlocked =>
  new PayoutBlocked(
    'treasuryBehindChain',
    `${what} on Solana bear the payout’s reference ${reference}, and the log knows of none that landed: it is an old copy or the key was used elsewhere; sign nothing until an operator has looked at them`,
  );
