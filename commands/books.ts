/**
 * Checks whether an account's books close: compares its balances at a final block with its opening and all recorded movements since.
 * Searches the chain's history for unexplained differences.
 */
import { type ChainId, chainOf } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import type { Instant } from '../domain/time.ts';
import {
  type BooksComparisonInput,
  explainDifference,
  openBooks,
  reckon,
  recordLook,
  type Unrecorded,
} from '../domain/treasury/books.ts';
import {
  type Amounts,
  addAmounts,
  type Books,
  type BooksState,
  books,
  booksInstance,
  openIn,
} from '../domain/treasury/booksState.ts';
import {
  type AccountBalances,
  type AccountHistory,
  type AccountTransaction,
  coin,
  type HistoryAsked,
  HistoryTooLong,
} from './accountHistory.ts';
import { type By, currentState, type Handle, type Handled } from './handle.ts';
import type { Clock } from './ports.ts';

/** A treasury account, or one that numbers its transfers. */
export interface BooksAccount {
  readonly chainId: ChainId;
  readonly account: string;
  /** Addresses where the account receives payins: itself and the payin contract. Empty if payments have their own addresses. */
  readonly payinAddresses: readonly string[];
}

/** Effects of recorded transfers, from the read models, which may be behind the log. */
export interface RecordedMovements {
  /** Sums by asset, for blocks after `after` up to `upTo`. */
  moved(of: BooksAccount, range: BlocksAfter): Promise<Amounts>;
  /** Hashes of recorded transactions in the same blocks. */
  hashes(of: BooksAccount, range: BlocksAfter): Promise<ReadonlySet<string>>;
  /** Returns the addresses that are deposits of ours. */
  deposits(addresses: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface BlocksAfter {
  /** Number of networks of the chain that were closed before. Earlier movements belong to another network. */
  readonly networksClosed: number;
  readonly after: bigint;
  readonly upTo: bigint;
}

export interface BooksDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly history: AccountHistory;
  readonly recorded: RecordedMovements;
}

const by = { cause: 'worker:books', appId: null } as const;

export const loadBooks = (
  { handle }: Pick<BooksDeps, 'handle'>,
  { chainId, account }: BooksAccount,
): Promise<BooksState> => currentState(handle, books, booksInstance(chainId, account));

type Outcome = Promise<Handled<BooksState> | Refusal>;

/** @param opening balances at a final block, and the number of closed networks when they were read */
export function openBooksOf(
  { handle, clock }: BooksDeps,
  { chainId, account }: BooksAccount,
  { standing, networksClosed }: { readonly standing: AccountBalances; readonly networksClosed: number },
): Outcome {
  const now = clock.now();
  return handle(
    books,
    booksInstance(chainId, account),
    (state) => openBooks(state, { chainId, account, ...standing, networksClosed, now }),
    by,
  );
}

export interface How {
  /** Searches the chain's history for unrecorded transactions, which takes many calls. */
  readonly search: boolean;
  readonly patienceOver: boolean;
  readonly closingDue: boolean;
}

/**
 * Compares at a final block and records the findings. After a crash before the append, the next check finds the same. The decision uses the
 * stream's current state, so no top-up counts twice.
 */
export async function recordLookAt(
  deps: BooksDeps,
  of: BooksAccount,
  { state, standing, ...how }: How & { readonly state: Books; readonly standing: AccountBalances },
  signal: AbortSignal,
): Promise<Found> {
  const look = await compareAt(deps, of, { state, standing, ...how }, signal);
  const decide = (now: BooksState) => recordLook(now, look);
  const recorded = await deps.handle(books, booksInstance(of.chainId, of.account), decide, by);
  // The books were closed during the chain reads.
  if (isRefusal(recorded)) return { rest: {}, open: null };
  const after = openIn(recorded.state) ?? state;
  const { rest } = reckon(after, { ...look, unrecorded: null });
  return { rest, open: after.open };
}

export interface Found {
  /** Excess of the account over its books (negative: shortfall). */
  readonly rest: Amounts;
  /** Recorded after it has lasted for a while. */
  readonly open: Books['open'];
}

/** Collects the facts to compare at a block. */
export async function compareAt(
  { clock, history, recorded }: BooksDeps,
  of: BooksAccount,
  {
    state,
    standing,
    search,
    patienceOver,
    closingDue,
  }: How & { readonly state: Books; readonly standing: AccountBalances },
  signal: AbortSignal,
): Promise<BooksComparisonInput> {
  const { networksClosed } = state;
  const upTo = standing.blockNumber;
  const moved = await recorded.moved(of, { networksClosed, after: state.opened.blockNumber, upTo });
  const after = (state.closed ?? state.opened).blockNumber;
  const range = { networksClosed, after, upTo };
  const unrecorded = search ? await unrecordedIn({ history, recorded }, of, range, signal) : null;
  const payinTokens = of.payinAddresses.length === 0 ? null : decimalsOf(of.chainId);
  const now: Instant = clock.now();
  const { listsCoin } = history;
  return { networksClosed, standing, moved, unrecorded, listsCoin, payinTokens, patienceOver, closingDue, now };
}

const decimalsOf = (chainId: ChainId): Record<string, number> =>
  Object.fromEntries(chainOf(chainId).tokens.map(({ address, decimals }) => [address, decimals]));

const pageMax = 500;
const pagesMax = 100;

/** @throws HistoryTooLong */
async function unrecordedIn(
  { history, recorded }: Pick<BooksDeps, 'history' | 'recorded'>,
  of: BooksAccount,
  range: BlocksAfter,
  signal: AbortSignal,
): Promise<readonly Unrecorded[]> {
  const { after, upTo } = range;
  const except = await recorded.hashes(of, range);
  const asked: HistoryAsked = {
    account: of.account,
    from: after + 1n,
    to: upTo,
    order: 'oldestFirst',
    max: pageMax,
    after: null,
    except,
  };
  const found: AccountTransaction[] = [];
  let next: string | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await history.transactions({ ...asked, after: next }, signal);
    found.push(...page.transactions);
    next = page.next;
    if (next === null) {
      const deposits = await recorded.deposits(found.flatMap((each) => senderOf(each) ?? []));
      return found.map((each) => unrecordedOf(each, deposits));
    }
  }
  throw new HistoryTooLong(`more happened to ${of.account} since block ${after} than is looked through at once`);
}

function unrecordedOf(transaction: AccountTransaction, deposits: ReadonlySet<string>): Unrecorded {
  const { txHash, blockNumber, blockHash, outgoing, fee, changes } = transaction;
  const sums = changes.reduce<Amounts>((sum, { asset, amount }) => addAmounts(sum, { [asset]: amount }), {
    [coin]: -fee,
  });
  const from = senderOf(transaction);
  return {
    txHash,
    blockNumber,
    blockHash,
    outgoing,
    changes: sums,
    from,
    fromDeposit: from !== null && deposits.has(from),
  };
}

/** Sender of the received money, if there is exactly one. */
function senderOf({ changes }: AccountTransaction): string | null {
  const senders = new Set(changes.flatMap(({ amount, counterparty }) => (amount > 0n ? [counterparty] : [])));
  const [only = null] = senders;
  return senders.size === 1 ? only : null;
}

/** Operator's explanation of a recorded difference. @param reason at most 400 characters */
export const explainBooks = (
  { handle, clock }: BooksDeps,
  { chainId, account }: BooksAccount,
  reason: string,
  who: By,
): Outcome =>
  handle(books, booksInstance(chainId, account), (state) => explainDifference(state, reason, clock.now()), {
    ...who,
    appId: null,
  });
