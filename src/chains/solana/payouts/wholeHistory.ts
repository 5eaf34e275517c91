/**
 * Whether a node's index of accounts' transactions is there at all. One that is empty, or has stopped, shows no payout that the chain has made,
 * and an old copy of the log knows none either: so what the treasury holds must be what its newest listed transaction left there.
 */
import { boundedMap } from '../../../lib/boundedMap.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { landedEach, TransactionUnreadable } from '../landed.ts';
import { untilThere } from '../patience.ts';
import { type AsOf, accountsOf } from '../reads.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { type Seen, signaturesOf } from '../transactions.ts';

/** The node answers, and what it lists of the treasury's account does not lead to what that holds. */
export class HistoryNotWhole extends RpcFailed {
  constructor(node: string, detail: string) {
    super(node, 'getSignaturesForAddress', 'refused', detail);
  }
}

const asOf: AsOf = { commitment: 'confirmed' };
/** Strangers can name the account, for 0.000005 SOL each; what they sent is read once. */
const listedMax = 5_000;
/** Nodes may give less in one answer than they are asked for. */
const pagesMax = 60;
const readAtOnce = 10;
const nodesMax = 100;

/** The newest transaction that was listed, and what the account held after the newest that tells. */
interface Told {
  readonly signature: string;
  readonly amount: bigint;
}

export type CheckWhole = (node: ChainNode, mint: string) => Promise<void>;

/** @returns throws HistoryNotWhole, RpcFailed when the node cannot tell */
export function createWholeCheck(treasury: string): CheckWhole {
  const known = boundedMap<Told>(nodesMax);

  const keyOf = (node: ChainNode, account: string): string => `${node.name} ${account}`;

  /** @param last what was listed before; undefined: nothing is believed to be */
  async function lastTold(node: ChainNode, account: string, last: Told | undefined): Promise<bigint | null> {
    const key = keyOf(node, account);
    const seen: Seen[] = [];
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
    // What is there already may be listed a moment later, and what is listed may have come in between.
    const [soon] = await untilThere([account], async () =>
      (await leadsThere(known.get(keyOf(node, account)))) ? [true] : [null],
    );
    // What is confirmed a fork may take back: it comes again behind others, and leaves something else, or never.
    const whole = soon ?? (await leadsThere(undefined));
    if (!whole) throw new HistoryNotWhole(node.name, shown);
  };
}

function orUnreadable(error: unknown): TransactionUnreadable {
  if (error instanceof TransactionUnreadable) return error;
  throw error;
}

/** Of transactions, newest first: what the newest that tells of the account's tokens left in it; undefined when none does. */
async function leftBy(node: ChainNode, account: string, page: readonly Seen[]): Promise<bigint | undefined> {
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
