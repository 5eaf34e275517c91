/** Fate of a signed attempt. "Dead" requires a proof: a wrong answer would pay twice. */
import { assert } from '../../../../domain/decider.ts';
import { epochMs } from '../../../../domain/time.ts';
import type { Cost, DeathProof } from '../../../../domain/transfer/shapes.ts';
import { boundedMap } from '../../../lib/cache.ts';
import { inParallel } from '../../../lib/concurrency.ts';
import { agreedFate, nodesNeeded } from '../../node/agreement.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { type ChainRpc, ChainUnavailable } from '../../node/nodes.ts';
import { type Fate, PayoutBlocked, type Sent } from '../../ports.ts';
import { callsAtOnce } from '../config.ts';
import {
  type LandedTransaction,
  type ListedSignature,
  landed,
  landedEach,
  type Status,
  signatureStatus,
  signaturesOf,
  type TokenBalance,
  TransactionUnreadable,
} from '../landed.ts';
import { payerTransactionOf } from '../payerTransaction.ts';
import {
  accountsOf,
  blockAt,
  type FinalHead,
  finalBlocks,
  finalHead,
  isBlockhashValid,
  lagging,
  type ReadContext,
  untilThere,
} from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { messageIn, termsInMessage } from './transaction.ts';

type Transferred = Pick<Sent, 'account' | 'token' | 'receiver' | 'amount' | 'form'>;

/** The final transaction. @throws RpcFailed if the node does not have it */
export async function finalTransaction(node: ChainNode, hash: string): Promise<LandedTransaction> {
  const found = await landed(node, hash, 'finalized');
  if (found) return found;
  throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${hash}`);
}

/**
 * Increase of the receiver's token account.
 * @throws RpcFailed if the node's copy of the transaction is incomplete: one without the payer's own balance
 */
export function arrivedIn(node: ChainNode, found: LandedTransaction, transfer: Transferred): bigint {
  const { account, token, receiver, amount, form } = transfer;
  if (form?.kind === 'coin') return coinArrivedIn(node, found, transfer);
  if (form?.kind === 'burn' || form?.kind === 'mint') return movedByProtocol(node, found, transfer);
  const payer =
    form?.kind === 'flush' ? form.deposits[0]?.address : form?.kind === 'payerTransaction' ? form.payer : account;
  const [from, to] = [payer ?? account, receiver].map((owner) => tokenAccountOf(owner, token.address));
  if (!found.before.some((balance) => balance.account === from))
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${found.signature}`);
  // A payment of the treasury to itself moves nothing.
  if (from === to) return BigInt(amount);
  const held = (balances: readonly TokenBalance[]) =>
    balances.find((balance) => balance.account === to && balance.mint === token.address)?.amount ?? 0n;
  const grown = held(found.after) - held(found.before);
  return grown > 0n ? grown : 0n;
}

/** Decrease of the treasury's token account by a burn, or its increase by a mint. @throws RpcFailed as `arrivedIn` */
function movedByProtocol(node: ChainNode, found: LandedTransaction, { account, token, form }: Transferred): bigint {
  const own = tokenAccountOf(account, token.address);
  const [before, after] = [found.before, found.after].map(
    (balances) => balances.find((balance) => balance.account === own && balance.mint === token.address)?.amount,
  );
  if (before === undefined || after === undefined)
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${found.signature}`);
  const moved = form?.kind === 'burn' ? before - after : after - before;
  return moved > 0n ? moved : 0n;
}

/** Increase of the receiver's wallet. @throws RpcFailed if the node omits the coin */
function coinArrivedIn(
  node: ChainNode,
  { signature, accounts, coin }: LandedTransaction,
  { account, receiver, amount }: Transferred,
) {
  const at = accounts.indexOf(receiver);
  const [before, after] = [coin?.before[at], coin?.after[at]];
  if (before === undefined || after === undefined)
    throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not have the balances of ${signature}`);
  if (receiver === account) return BigInt(amount);
  return after > before ? after - before : 0n;
}

/** Cost to its payer's coin: the fee, and the rent of opened or closed accounts. Undefined if the node omits it. */
/** @param paid lamports of the order */
export function costIn({ accounts, coin }: LandedTransaction, paid = 0n): Cost | undefined {
  const [payer] = accounts;
  if (payer === undefined || !coin) return undefined;
  const rent = (coin.before[0] ?? 0n) - (coin.after[0] ?? 0n) - coin.fee - paid;
  return { payer, fee: coin.fee.toString(), ...(rent !== 0n && { rent: rent.toString() }) };
}

/** Blocks after its own that accept a blockhash. */
export const blockhashAge_blocks = 150n;
/** If one node is trusted alone, an attempt is given up this many blocks later: a lagging index has time to catch up. */
export const waitAlone_blocks = 450n;
/** An attempt can be proven dead up to this many blocks past its last one; later, an operator has to examine it. */
const provableFor_blocks = 200_000n;

/**
 * Fate that the nodes agree on. Each must prove by its own blocks that none holds the attempt.
 * @param usd the transfer, in whole tokens
 */
export const fateOf = (rpc: SolanaRpc, attempt: Sent, usd: bigint, signal: AbortSignal): Promise<Fate> =>
  agreedFate(
    rpc,
    (node) => fateAt(node, attempt, nodesNeeded(rpc.agree, usd) > 1 ? 0n : waitAlone_blocks),
    usd,
    signal,
  );

/** A node knows its network's blockhashes long before this time after the signature. */
const knownAfter_s = 3_600;

/**
 * Returns true if a block may still accept the attempt. No block accepts a blockhash that the node's final blocks do not know, once the
 * chain is past the attempt's last height, or once the newest final block is an hour younger than the signature: then the network was
 * reset, and its heights may stay below the attempt's for years. @throws RpcFailed
 */
export async function canLandAt(node: SolanaNode, attempt: Sent): Promise<boolean> {
  const head = await finalHead(node);
  if (await isValid(node, attempt, head.slot)) return true;
  if (head.height > BigInt(attempt.validUntil ?? '0')) return false;
  const { time_s } = await blockAt(node, head.slot, 'finalized');
  return time_s < epochMs(attempt.signedAt) / 1_000 + knownAfter_s;
}

/**
 * Fate according to one node. Undefined if it does not know the attempt and cannot prove it dead.
 * @param wait_blocks that must follow the last one that accepts the attempt, if a wrong answer would pay again
 * @throws RpcFailed
 */
async function fateAt(node: SolanaNode, attempt: Sent, wait_blocks: bigint): Promise<Fate | undefined> {
  const first = await signatureStatus(node, attempt.hash);
  if (first.status) return decided(node, attempt, first.status);
  const lastHeight = BigInt(attempt.validUntil ?? '0');
  const head = await finalHead(node);
  // A swept deposit is not swept again, whatever is signed.
  if (head.height <= lastHeight + (attempt.form?.kind === 'flush' ? 0n : wait_blocks)) return undefined;

  // No block accepts the attempt any more. None has accepted it if the node has all blocks and, queried again, does not know it.
  if (await isValid(node, attempt, head.slot)) return undefined;
  const earliest = await completeFrom(node, lastHeight - blockhashAge_blocks, head);
  if (earliest === undefined) return { kind: 'pending', mined: true };
  const { slot, status } = await signatureStatus(node, attempt.hash);
  if (status) return decided(node, attempt, status);
  if (slot < head.slot) throw lagging(node, 'getSignatureStatuses', head.slot);
  const shown = await shownElsewhere(node, attempt, earliest);
  if (shown) return shown;
  const detail = `block height ${head.height} is final, past ${lastHeight}, and the transaction is in no block`;
  return dead(attempt, 'validityPassed', detail);
}

/** The index of statuses may be empty: the transaction itself, and the receiver's history, are stored separately. */
async function shownElsewhere(node: SolanaNode, attempt: Sent, from: bigint): Promise<Fate | undefined> {
  const { hash, token, form, receiver, account } = attempt;
  const found = await landed(node, hash, 'finalized');
  if (found) return decided(node, attempt, { slot: found.slot, final: true, error: found.failed ? 'an error' : null });
  // A burn pays no account: the treasury's own history lists it.
  const owner = form?.kind === 'flush' ? form.deposits[0]?.address : form?.kind === 'burn' ? account : receiver;
  const paid = form?.kind === 'coin' ? receiver : tokenAccountOf(owner ?? receiver, token.address);
  if (!(await isListed(node, paid, hash, from))) return undefined;
  const message = `${node.name}: the receiver’s history lists ${hash}, which the node does not know otherwise`;
  return { kind: 'pending', mined: true, dispute: { reason: 'nodesDisagree', message } };
}

/** Maximum pages of the receiver's history; for busier receivers the other witnesses decide. */
const listedPagesMax = 12;

async function isListed(node: SolanaNode, account: string, hash: string, from: bigint): Promise<boolean> {
  let before: string | null = null;
  for (let pages = 0; pages < listedPagesMax; pages++) {
    const page = await signaturesOf(node, account, { until: null, before }, { commitment: 'finalized' });
    if (page.some(({ signature }) => signature === hash)) return true;
    const oldest = page.at(-1);
    if (!oldest || oldest.slot < from) return false;
    before = oldest.signature;
  }
  return false;
}

async function decided(node: SolanaNode, attempt: Sent, { slot, final, error }: Status): Promise<Fate> {
  if (!final) return { kind: 'pending', mined: true };
  const { hash } = attempt;
  const { hash: blockHash } = await blockAt(node, slot, 'finalized');
  const found = await finalTransaction(node, hash);
  const isCoin = attempt.form?.kind === 'coin' && error === null;
  const cost = costIn(found, isCoin ? BigInt(attempt.amount) : 0n);
  if (error !== null) {
    const at = cost && { hash, blockNumber: slot.toString(), blockHash, cost };
    return dead(attempt, 'reverted', `it failed in slot ${slot}: ${error.slice(0, 200)}`, at);
  }
  const landed = { attempt: attempt.attempt, hash, blockNumber: slot, blockHash, ...(cost && { cost }) };
  // It moves nothing: the payer's transaction follows.
  if (isOpening(attempt)) return { kind: 'final', ...landed };
  const arrived = arrivedIn(node, found, attempt);
  return arrived >= BigInt(attempt.amount) ? { kind: 'final', ...landed } : { kind: 'short', ...landed, arrived };
}

/** Whether a relay's attempt opens the deposit's token account: any other bytes than the payer's own transaction. */
function isOpening({ form, bytes }: Pick<Sent, 'form' | 'bytes'>): boolean {
  if (form?.kind !== 'payerTransaction') return false;
  const own = payerTransactionOf(form.signature);
  return own === null || Buffer.compare(own.message, messageIn(bytes)) !== 0;
}

/** A second witness besides the last valid height, which came from the signing node: the node's current answer about the blockhash. */
function isValid(node: SolanaNode, { bytes }: Sent, minContextSlot: bigint): Promise<boolean> {
  const terms = termsInMessage(messageIn(bytes));
  assert(terms !== undefined, 'what was signed here can be read here');
  return isBlockhashValid(node, terms.blockhash, { commitment: 'finalized', minContextSlot });
}

/** Slot of the block at a height, if the node has every final block from there on: as many as the difference in heights. */
async function completeFrom(node: SolanaNode, height: bigint, head: FinalHead): Promise<bigint | undefined> {
  const blocks = head.height - height;
  if (blocks > provableFor_blocks) return undefined;
  // Some slots have no block: searches twice as many slots as blocks.
  const from = head.slot - blocks * 2n;
  const slots = await finalBlocks(node, from > 0n ? from : 0n, head.slot);
  const earliest = slots.at(-Number(blocks) - 1);
  if (earliest === undefined) return undefined;
  return (await blockAt(node, earliest, 'finalized')).height === height ? earliest : undefined;
}

const dead = (
  { attempt }: Sent,
  reason: 'reverted' | 'validityPassed',
  detail: string,
  landed?: DeathProof['landed'],
): Fate => ({
  kind: 'dead',
  attempts: [attempt],
  proof: { reason, detail, ...(landed && { landed }) },
});

// Searches the chain for a payout that the log is about to make: without nonces, nothing else reveals that the log is
// an old copy.

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
