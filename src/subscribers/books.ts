/** Looks from time to time whether the books of a chain's accounts close, at blocks that are final. */

import { HistoryTooLong, type Standing } from '../../commands/accountHistory.ts';
import { type BooksAccount, type BooksDeps, loadBooks, openBooksOf, recordLookAt } from '../../commands/books.ts';
import type { ChainId } from '../../domain/chains.ts';
import { epochMs, minute_ms } from '../../domain/time.ts';
import { type Amounts, isNothing } from '../../domain/treasury/amounts.ts';
import type { Books } from '../../domain/treasury/booksState.ts';
import type { Worker } from './worker.ts';

export interface BooksWorkerDeps extends BooksDeps {
  /** Those that there are. */
  readonly accounts: (signal: AbortSignal) => Promise<readonly BooksAccount[]>;
  /** What the books lack needs an operator. */
  readonly alarm: (reason: string, facts: Readonly<Record<string, unknown>>, message: string) => void;
}

/** Between two looks at an account whose books closed. */
const every_ms = 10 * minute_ms;
/** A closing is recorded no more often than this. */
const closings_ms = 60 * minute_ms;
/** What is final may be recorded and projected a moment later: only then the history is searched. */
const settling_ms = minute_ms;
/** Whatever is under way is recorded by then. */
const patience_ms = 30 * minute_ms;
const round_ms = 15_000;
const accountsWithin_ms = 15_000;

/** How an account is being looked at. */
interface Looking {
  /** Compared as soon as it is final. */
  standing: Standing | null;
  finalSince_ms: number | null;
  next_ms: number;
  differsSince_ms: number | null;
}

export const booksWorkerName = (chainId: ChainId): string => `books:${chainId}`;

/** One item per account. What is noted of a look is in memory: after a restart it begins anew, and finds the same. */
export function booksWorker(deps: BooksWorkerDeps, chainId: ChainId): Worker<BooksAccount> {
  const { clock, history } = deps;
  const looks = new Map<string, Looking>();
  let known: { readonly accounts: readonly BooksAccount[]; readonly at_ms: number } | null = null;

  function lookingOf({ account }: BooksAccount): Looking {
    const looking = looks.get(account) ?? { standing: null, finalSince_ms: null, next_ms: 0, differsSince_ms: null };
    looks.set(account, looking);
    return looking;
  }

  async function accountsAt(now_ms: number): Promise<readonly BooksAccount[]> {
    if (known && now_ms - known.at_ms < every_ms) return known.accounts;
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
      looking.next_ms = now_ms + round_ms;
      looking.standing ??= await history.standing(of.account, signal);
      const { standing } = looking;
      const finality = await history.finality(standing, signal);
      if (finality === 'gone') Object.assign(looking, { standing: null, finalSince_ms: null });
      if (finality !== 'final') return;
      looking.finalSince_ms ??= now_ms;
      const state = await loadBooks(deps, of);
      if (!state) await openBooksOf(deps, of, standing);
      else if (!(await compare(of, { state, standing, looking }, signal))) return;
      Object.assign(looking, { standing: null, finalSince_ms: null, next_ms: now_ms + every_ms });
    },
  };

  /** @returns false when the same standing is to be compared once more */
  async function compare(
    of: BooksAccount,
    { state, standing, looking }: { readonly state: Books; readonly standing: Standing; readonly looking: Looking },
    signal: AbortSignal,
  ): Promise<boolean> {
    const now_ms = epochMs(clock.now());
    const search = now_ms - (looking.finalSince_ms ?? now_ms) >= settling_ms;
    const patienceOver = looking.differsSince_ms !== null && now_ms - looking.differsSince_ms >= patience_ms;
    const last_ms = state.closed === null ? 0 : epochMs(state.closed.at);
    const how = { search, patienceOver, closingDue: now_ms - last_ms >= closings_ms };
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

const inWords = (differences: Amounts): string => {
  const told = Object.entries(differences).map(([asset, units]) => `${units > 0n ? '+' : ''}${units} of ${asset}`);
  return `the account holds ${told.join(', ')} besides what the books say: npm run treasury -- books tells what is known of it`;
};
