/** Periodically checks whether the books of a chain's accounts close, at final blocks. */

import { type AccountBalances, HistoryTooLong, StandingDisputed } from '../../../commands/accountHistory.ts';
import { type BooksAccount, type BooksDeps, loadBooks, openBooksOf, recordLookAt } from '../../../commands/books.ts';
import type { ChainId } from '../../../domain/chains.ts';
import { epochMs, minute_ms } from '../../../domain/time.ts';
import {
  type Amounts,
  type Books,
  type BooksState,
  isNothing,
  networksClosedIn,
  openIn,
  textsOf,
} from '../../../domain/treasury/booksState.ts';
import type { Worker } from '../engine.ts';

export interface BooksWorkerDeps extends BooksDeps {
  /** Existing accounts. */
  readonly accounts: (signal: AbortSignal) => Promise<readonly BooksAccount[]>;
  /** A difference that needs an operator. */
  readonly alarm: (reason: string, facts: Readonly<Record<string, unknown>>, message: string) => void;
}

/** Interval between two checks of an account with recorded transfers. Each is a handful of calls, plus some while it waits. */
const every_ms = 10 * minute_ms;
/**
 * Interval without recorded transfers: money may arrive from outside, or leave by a stolen key. Also the minimum interval of recorded
 * closings.
 */
const quiet_ms = 60 * minute_ms;
/** Poll interval for a block's finality. */
const waiting_ms = 2 * minute_ms;
/** Final transfers may be recorded and projected a moment later: only then the history is searched. */
const settling_ms = minute_ms;
/** By then every pending transfer is recorded. */
const patience_ms = 30 * minute_ms;
const accountsWithin_ms = 15_000;

/** State of an account's check. */
interface Looking {
  /** Number of networks closed when the account was read. */
  networksClosed: number;
  /** Compared as soon as it is final. */
  standing: AccountBalances | null;
  finalSince_ms: number | null;
  next_ms: number;
  differsSince_ms: number | null;
  /** Time of the last comparison, and the effects of recorded transfers by then. */
  compared: { readonly at_ms: number; readonly moved: string } | null;
}

/** All recorded blocks. */
const everything = 2n ** 62n;

export const booksWorkerName = (chainId: ChainId): string => `books:${chainId}`;

/** One item per account. The state of a check is in memory: after a restart it begins again, and finds the same. */
export function booksWorker(deps: BooksWorkerDeps, chainId: ChainId): Worker<BooksAccount> {
  const { clock, history } = deps;
  const looks = new Map<string, Looking>();
  let known: { readonly accounts: readonly BooksAccount[]; readonly at_ms: number } | null = null;

  function lookingOf({ account }: BooksAccount): Looking {
    const looking = looks.get(account) ?? { ...unread, networksClosed: 0, next_ms: 0 };
    looks.set(account, looking);
    return looking;
  }

  async function accountsAt(now_ms: number): Promise<readonly BooksAccount[]> {
    if (known && now_ms - known.at_ms < quiet_ms) return known.accounts;
    known = { accounts: await deps.accounts(AbortSignal.timeout(accountsWithin_ms)), at_ms: now_ms };
    return known.accounts;
  }

  return {
    name: booksWorkerName(chainId),
    concurrency: 1,
    async due(max, now) {
      const accounts = await accountsAt(epochMs(now));
      return accounts.filter((of) => lookingOf(of).next_ms <= epochMs(now)).slice(0, max);
    },
    keyOf: ({ account }) => account,
    async act(of, signal) {
      const looking = lookingOf(of);
      const now_ms = epochMs(clock.now());
      const loaded = await loadBooks(deps, of);
      forgetOldNetwork(looking, loaded);
      const state = openIn(loaded);
      const moved = state ? await movedSince(of, state) : '';
      if (!looking.standing && !isDue(looking, now_ms, moved)) {
        looking.next_ms = now_ms + every_ms;
        return;
      }
      looking.next_ms = now_ms + waiting_ms;
      looking.standing ??= await standingOf(of, signal);
      if (looking.standing && (await isCompared(of, { state, standing: looking.standing, looking }, signal)))
        Object.assign(looking, {
          standing: null,
          finalSince_ms: null,
          next_ms: now_ms + every_ms,
          compared: { at_ms: now_ms, moved },
        });
    },
  };

  async function movedSince(of: BooksAccount, { opened, networksClosed }: Books): Promise<string> {
    const range = { networksClosed, after: opened.blockNumber, upTo: everything };
    const moved = await deps.recorded.moved(of, range);
    return JSON.stringify(textsOf(moved));
  }

  /** Null while the nodes disagree: the next round queries again. */
  async function standingOf(of: BooksAccount, signal: AbortSignal): Promise<AccountBalances | null> {
    return history.standing(of.account, signal).catch((error: unknown) => {
      if (error instanceof StandingDisputed) return null;
      throw error;
    });
  }

  interface Looked {
    readonly state: Books | null;
    readonly standing: AccountBalances;
    readonly looking: Looking;
  }

  /** @returns false if the same balances must be checked once more */
  async function isCompared(of: BooksAccount, looked: Looked, signal: AbortSignal): Promise<boolean> {
    const { state, standing, looking } = looked;
    const finality = await history.finality(standing, signal);
    if (finality === 'gone') Object.assign(looking, { standing: null, finalSince_ms: null });
    if (finality !== 'final') return false;
    looking.finalSince_ms ??= epochMs(clock.now());
    if (state) return compare(of, { ...looked, state }, signal);
    await openBooksOf(deps, of, { standing, networksClosed: looking.networksClosed });
    return true;
  }

  async function compare(of: BooksAccount, looked: Looked & { readonly state: Books }, signal: AbortSignal) {
    const { state, standing, looking } = looked;
    const now_ms = epochMs(clock.now());
    const search = now_ms - (looking.finalSince_ms ?? now_ms) >= settling_ms;
    const patienceOver = looking.differsSince_ms !== null && now_ms - looking.differsSince_ms >= patience_ms;
    const last_ms = state.closed === null ? 0 : epochMs(state.closed.at);
    const how = { search, patienceOver, closingDue: now_ms - last_ms >= quiet_ms };
    try {
      const { rest, open } = await recordLookAt(deps, of, { state, standing, ...how }, signal);
      if (isNothing(rest)) looking.differsSince_ms = null;
      else looking.differsSince_ms ??= now_ms;
      if (open) tell(of, inWords(open.differences));
      return search || isNothing(rest);
    } catch (error) {
      if (!(error instanceof HistoryTooLong)) throw error;
      tell(of, error.message);
      return true;
    }
  }

  function tell({ account }: BooksAccount, message: string): void {
    deps.alarm('booksOpen', { chainId, account }, message);
  }
}

const unread = { standing: null, finalSince_ms: null, differsSince_ms: null, compared: null };

/** Balances read before the books were closed are of the old network. */
function forgetOldNetwork(looking: Looking, state: BooksState): void {
  const networksClosed = networksClosedIn(state);
  if (looking.networksClosed !== networksClosed) Object.assign(looking, { ...unread, networksClosed });
}

/** A difference is checked again soon, whatever has moved. */
const isDue = ({ compared, differsSince_ms }: Looking, now_ms: number, moved: string): boolean =>
  compared === null || differsSince_ms !== null || moved !== compared.moved || now_ms - compared.at_ms >= quiet_ms;

const inWords = (differences: Amounts): string => {
  const told = Object.entries(differences).map(([asset, units]) => `${units > 0n ? '+' : ''}${units} of ${asset}`);
  return `the account holds ${told.join(', ')} besides what the books say: npm run treasury -- books tells what is known of it`;
};
