/** The books of an account beside what it holds at this moment, for an operator. */

import { type BooksAccount, type BooksDeps, loadBooks, lookAt } from '../../commands/books.ts';
import { type Amounts, nonZero, plus } from '../../domain/treasury/amounts.ts';
import { type Books, openIn } from '../../domain/treasury/booksState.ts';
import { type Reckoned, reckon } from '../../domain/treasury/reckoning.ts';

export interface Compared {
  readonly state: Books;
  readonly blockNumber: bigint;
  readonly chain: Amounts;
  /** What recorded transfers did since the opening. */
  readonly moved: Amounts;
  /** What came from outside and is not recorded yet. */
  readonly arriving: Reckoned['topUps'];
  /** What transactions of ours did that are on the chain and not recorded yet. */
  readonly underWay: Amounts;
  /** What nothing explains: without any, the books close. */
  readonly difference: Amounts;
  readonly evidence: string;
}

/**
 * @param isOurs which of these transactions the log has signed
 * @returns undefined while the books are not open
 * @throws ChainUnavailable, StandingDisputed, HistoryTooLong
 */
export async function compareBooks(
  deps: BooksDeps,
  of: BooksAccount,
  isOurs: (hashes: readonly string[]) => Promise<ReadonlySet<string>>,
  signal: AbortSignal,
): Promise<Compared | undefined> {
  const state = openIn(await loadBooks(deps, of));
  if (!state) return undefined;
  const standing = await deps.history.standing(of.account, signal);
  const how = { state, standing, search: true, patienceOver: true, closingDue: false };
  const look = await lookAt(deps, of, how, signal);
  const { topUps, rest, evidence } = reckon(state, look);
  const unrecorded = look.unrecorded ?? [];
  const ours = await isOurs(unrecorded.map(({ txHash }) => txHash));
  const underWay = unrecorded
    .filter(({ txHash }) => ours.has(txHash))
    .reduce<Amounts>((sum, { changes }) => plus(sum, changes), {});
  return {
    state,
    blockNumber: standing.blockNumber,
    chain: standing.balances,
    moved: look.moved,
    arriving: topUps,
    underWay,
    difference: nonZero(plus(rest, underWay, -1n)),
    evidence,
  };
}
