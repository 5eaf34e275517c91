/** Whether the chain shows a payout already that the log is about to make: without nonces, nothing else tells that the log is an old copy. */
import { inParallel } from '../../../lib/mapLimit.ts';
import { nodesNeeded } from '../../node/agreement.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { type ChainRpc, ChainUnavailable } from '../../node/nodes.ts';
import { PayoutBlocked } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import { landed, landedEach, TransactionUnreadable } from '../landed.ts';
import type { AsOf } from '../reads.ts';
import { type Seen, signaturesOf, statusOf } from '../transactions.ts';
import { createWholeCheck, HistoryNotWhole } from './wholeHistory.ts';

const asOf: AsOf = { commitment: 'confirmed' };
/** Public references alone can gather so many: nobody knows a secret one before it is needed no more. */
const listedMax = 5_000;
/** Nodes may give less in one answer than they are asked for. */
const pagesMax = 60;
const strangersMax = 20_000;

export interface Unpaid {
  readonly reference: string;
  readonly isSecret: boolean;
  /** Hashes of attempts that were given up. */
  readonly earlier: readonly string[];
  /** What is at stake, in whole tokens. */
  readonly usd: bigint;
  /** Of the treasury's account by which a node shows that its history is whole; null for the coin, which has none. */
  readonly mint: string | null;
}

export type CheckUnpaid = (rpc: ChainRpc, order: Unpaid) => Promise<void>;

/** Only transactions that the treasury has paid for count: it alone can sign those. Others are read once, and remembered as a stranger's. */
export function createUnpaidCheck(treasury: string): CheckUnpaid {
  const strangers = new Set<string>();
  const checkWhole = createWholeCheck(treasury);

  async function isTreasurys(node: ChainNode, { signature }: Seen, reference: string): Promise<boolean> {
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
      const { status } = await statusOf(node, signature);
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
   * A secret reference is another one after a transaction that failed on the chain: so one that failed, and that the log does not know of,
   * says as much as one that succeeded. One node's index may be empty: as many nodes are asked as must agree, where there are so many,
   * and for the attempts that were given up by their own signatures; a node whose list does not lead to what the treasury holds counts for
   * none of them.
   * @throws PayoutBlocked when a transaction of the treasury bears the reference, there are too many to tell, or a node's list is not whole
   * and too few others can tell
   * @throws ChainUnavailable when too few nodes answer
   */
  return async (rpc, order) => {
    const outcomes = await rpc.each((node) => checkAt(node, order));
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
