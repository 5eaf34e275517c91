/**
 * Transactions of the treasury that the log does not know. On chains with nonces their nonces reveal them, elsewhere the account's history.
 */

import type { AccountHistory, AccountTransaction } from '../../../commands/accountHistory.ts';
import { currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock } from '../../../commands/ports.ts';
import {
  loadFrom,
  type NumberingAccount,
  type PayoutRail,
  type TransferOwners,
} from '../../../commands/transferPorts.ts';
import { chainOf } from '../../../domain/chains.ts';
import { day_ms, epochMs, type Instant, instant, minute_ms, plus } from '../../../domain/time.ts';
import { keyOf, type TransferKey } from '../../../domain/transfer/shapes.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { readNumberingAccounts } from '../payouts/numberingAccounts.ts';

export interface UnknownTransactionsDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly rail: PayoutRail;
  readonly history: AccountHistory;
  readonly owners: TransferOwners;
  /** Returns the hashes that the read models know. @throws Unavailable */
  readonly recorded: (hashes: readonly string[], since: Instant) => Promise<ReadonlySet<string>>;
  /** Transfers whose streams must be read as well. @throws Unavailable */
  readonly toAsk: (since: Instant) => Promise<readonly TransferKey[]>;
}

export interface UnknownTransaction {
  /** The account of the nonce or of the history. */
  readonly account: string;
  readonly nonce: bigint | null;
  /** Null if no node returns the transaction that used the nonce. */
  readonly transaction: AccountTransaction | null;
}

export interface UnknownTransactions {
  /** By account, oldest first. */
  readonly found: readonly UnknownTransaction[];
  /** Nodes have forgotten the account's transactions before this time; null if the whole window was read. */
  readonly unseenBefore: Instant | null;
}

/** Maximum number of nonces of one account that one call looks up. */
const noncesMax = 50;

/** Maximum age and number of transactions that are read, newest first. */
export interface HistoryWindow {
  readonly duration_ms: number;
  readonly transactionsMax: number;
}

export const wholeWindow: HistoryWindow = { duration_ms: 7 * day_ms, transactionsMax: 1_000 };
/** Nodes drop history while pages are read. */
const forgotten_ms = 5 * minute_ms;
/** Tolerance: nodes configured for a day remember some minutes less, or more. */
const negligible_ms = 15 * minute_ms;
const pagesMax = 40;
const pageSize = 100;

/** Finds unknown transactions. @throws ChainUnavailable, HistoryTooLong, Unavailable */
export async function unknownTransactions(
  deps: UnknownTransactionsDeps,
  signal: AbortSignal,
): Promise<UnknownTransactions> {
  if (!deps.history.withNonce) return unrecordedHistory(deps, wholeWindow, signal);
  const accounts = await readNumberingAccounts(deps.rail, signal);
  const found = await Promise.all(accounts.map((numbering) => strangeNonces(deps, numbering, signal)));
  return { found: found.flat(), unseenBefore: null };
}

/** Transactions that used up nonces which the log assigned to no purpose, or to one without a landed signature. */
async function strangeNonces(
  deps: UnknownTransactionsDeps,
  { account, minedNonce }: NumberingAccount,
  signal: AbortSignal,
): Promise<readonly UnknownTransaction[]> {
  const state = await stateOf(deps, account);
  if (!state.opened) return [];
  const found: UnknownTransaction[] = [];
  for (const nonce of doubtful(state, minedNonce).slice(0, noncesMax)) {
    const own = await signedWith(deps, state, account, nonce);
    if (own.isOver) continue;
    const since = sinceOf(state, nonce);
    const transaction = (await deps.history.withNonce?.({ account, nonce, since }, signal)) ?? null;
    if (!transaction || !own.hashes.has(transaction.txHash)) found.push({ account, nonce, transaction });
  }
  return found;
}

/** Mined, and not adopted: unassigned nonces, and assigned ones that are still in the state. */
function doubtful(state: TreasuryState, minedNonce: bigint): readonly bigint[] {
  const given = [...state.assigned, ...state.cancelled.filter(({ usedUp }) => !usedUp), ...state.taken];
  const nonces = new Set(given.map(({ nonce }) => nonce).filter((nonce) => nonce < minedNonce));
  const free = state.nextNonce ?? minedNonce;
  for (let nonce = free; nonce < minedNonce && nonce < free + BigInt(noncesMax); nonce += 1n) nonces.add(nonce);
  for (const { nonce } of state.adopted) if (nonce !== null) nonces.delete(nonce);
  // The latest ones: earlier assignments are over.
  return [...nonces].toSorted((a, b) => Number(a - b)).slice(-2 * noncesMax);
}

/** Time of the previous assignment: nothing has used this nonce earlier. */
function sinceOf({ assigned, openedAt }: TreasuryState, nonce: bigint): Instant {
  const before = assigned.filter((assignment) => assignment.nonce < nonce).at(-1);
  return before?.assignedAt ?? openedAt ?? instant(0);
}

/** Signatures that the log knows for a nonce. `isOver`: their fate is recorded. */
async function signedWith({ owners }: UnknownTransactionsDeps, state: TreasuryState, account: string, nonce: bigint) {
  const cancels = state.cancelled.filter((each) => each.nonce === nonce);
  const holders = [...state.assigned.filter((each) => each.nonce === nonce), ...cancels];
  const legs = await Promise.all(
    holders.flatMap(({ purpose }) => (purpose ? [loadFrom(owners, keyOf(purpose.reference))] : [])),
  );
  const attempts = legs.flatMap((outgoing) => outgoing?.leg.attempts ?? []);
  const own = attempts.filter(({ signed }) => signed.account === account && signed.nonce === nonce.toString());
  const isTaken = state.taken.some((each) => each.nonce === nonce);
  return {
    hashes: new Set(
      [...own.map(({ signed }) => signed), ...cancels.flatMap(({ signed }) => signed)].map(({ hash }) => hash),
    ),
    isOver: !isTaken && own.some(({ fate }) => fate !== 'live' && fate !== 'lapsed'),
  };
}

/** Transactions of the account in the window without a record. @throws ChainUnavailable, HistoryTooLong, Unavailable */
export async function unrecordedHistory(
  deps: UnknownTransactionsDeps,
  window: HistoryWindow,
  signal: AbortSignal,
): Promise<UnknownTransactions> {
  const { account } = deps.rail;
  const state = await stateOf(deps, account);
  if (!state.opened) return { found: [], unseenBefore: null };
  const { sent, unseenBefore } = await sentIn(deps, state, window, signal);
  const known = new Set([...state.adopted, ...state.cancelled.flatMap(({ signed }) => signed)].map(({ hash }) => hash));
  const unknown = await unrecorded(
    deps,
    sent.filter(({ txHash }) => !known.has(txHash)),
  );
  const found = unknown.map((transaction) => ({ account, nonce: transaction.nonce, transaction })).toReversed();
  return { found, unseenBefore };
}

/** Newest first. */
async function sentIn(
  { rail, history, clock }: UnknownTransactionsDeps,
  { openedAt }: TreasuryState,
  { duration_ms, transactionsMax }: HistoryWindow,
  signal: AbortSignal,
): Promise<{ readonly sent: readonly AccountTransaction[]; readonly unseenBefore: Instant | null }> {
  const { account, chainId } = rail;
  const { blockNumber: to } = await history.standing(account, signal);
  const { block_ms } = chainOf(chainId);
  const blocks = (ms: number) => BigInt(Math.ceil(ms / block_ms));
  const oldest = await history.oldest?.(signal);
  const remembered = oldest ? oldest.blockNumber + blocks(forgotten_ms) : 0n;
  const from = [0n, to - blocks(duration_ms), remembered].reduce((a, b) => (a > b ? a : b));
  const range = { account, from, to, order: 'newestFirst', max: pageSize } as const;
  const start = plus(clock.now(), -duration_ms);
  const since = openedAt !== null && openedAt > start ? openedAt : start;
  const seenFrom = oldest && plus(oldest.time, forgotten_ms);
  const unseenBefore = seenFrom && epochMs(seenFrom) > epochMs(since) + negligible_ms ? seenFrom : null;
  const found: AccountTransaction[] = [];
  let after: string | null = null;
  for (let pages = 0; pages < pagesMax && found.length < transactionsMax; pages += 1) {
    const page = await history.transactions({ ...range, after }, signal);
    found.push(...page.transactions);
    after = page.next;
    if (after === null || page.transactions.some(({ time }) => time < since)) break;
  }
  const sent = found.filter(({ outgoing, time }) => outgoing && epochMs(time) >= epochMs(since));
  return { sent, unseenBefore };
}

async function unrecorded(
  { owners, recorded, toAsk }: UnknownTransactionsDeps,
  sent: readonly AccountTransaction[],
): Promise<readonly AccountTransaction[]> {
  const oldest = sent.at(-1)?.time;
  if (oldest === undefined) return [];
  const since = plus(oldest, -day_ms);
  const known = await recorded(
    sent.map(({ txHash }) => txHash),
    since,
  );
  const rest = sent.filter(({ txHash }) => !known.has(txHash));
  if (rest.length === 0) return [];
  const legs = await Promise.all((await toAsk(since)).map((key) => loadFrom(owners, key)));
  const signed = new Set(legs.flatMap((outgoing) => outgoing?.leg.attempts.map((each) => each.signed.hash) ?? []));
  return rest.filter(({ txHash }) => !signed.has(txHash));
}

const stateOf = ({ handle, rail }: UnknownTransactionsDeps, account: string): Promise<TreasuryState> =>
  currentState(handle, treasury, treasuryInstance(rail.chainId, account));
