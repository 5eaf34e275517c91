/**
 * The books of an account: what it held once, what is recorded since, and what it holds now must be the same to the last unit. What moved
 * is told by the streams of payments, operations and so on; here stand the opening, money that came from outside, and what was found.
 */
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import { type Amounts, isNothing, nonZero, plus, textsOf } from './amounts.ts';
import type { BooksData, BooksEvent } from './booksEvents.ts';
import { type At, type Books, type BooksState, networksClosedIn, openIn } from './booksState.ts';
import { type Look, type Reckoned, reckon } from './reckoning.ts';

export interface Opening extends At {
  readonly chainId: BooksData<'BooksOpened'>['chainId'];
  readonly account: string;
  readonly balances: Amounts;
  /** Networks that were closed when the balances were read. */
  readonly networksClosed: number;
  readonly now: Instant;
}

/** @param at a final block */
export function openBooks(state: BooksState, at: Opening): Decision<BooksEvent> {
  if (openIn(state)) return [];
  if (at.networksClosed !== networksClosedIn(state)) return ofOldNetwork();
  const { chainId, account, blockNumber, blockHash, balances, now } = at;
  const place = { blockNumber: blockNumber.toString(), blockHash };
  return [{ type: 'BooksOpened', data: { chainId, account, ...place, balances: textsOf(balances), openedAt: now } }];
}

/**
 * Records what a look at the account has found: top-ups; that the books close, at most so often as `look.closingDue` says unless they were
 * open or what the account holds has changed; that they do not, once it has been so for a while.
 */
export function recordLook(books: BooksState, look: Look): Decision<BooksEvent> {
  const state = openIn(books);
  if (look.networksClosed !== networksClosedIn(books)) return ofOldNetwork();
  if (!state) return refuse('illegalStep', 'the books are not open: the first look opens them');
  const { blockNumber, blockHash } = look.standing;
  if (blockNumber <= (state.closed ?? state.opened).blockNumber) return [];
  const { topUps, rest, evidence } = reckon(state, look);
  const place = { blockNumber: blockNumber.toString(), blockHash };
  const found = topUps.map((data): BooksEvent => ({ type: 'TopUpSeen', data }));
  if (!isNothing(rest)) return [...found, ...foundOpen(state, look, { rest, evidence })];
  const { balances } = look.standing;
  const isNews = state.open !== null || (look.closingDue && !isNothing(plus(balances, lastOf(state), -1n)));
  if (!isNews && state.closed !== null) return found;
  return [...found, { type: 'BooksClosed', data: { ...place, balances: textsOf(balances), closedAt: look.now } }];
}

const ofOldNetwork = () =>
  refuse('conflict', 'the balance was read before the books of its network were closed: read the balance again');

export interface NetworkEnd {
  /** What told the old network from others. */
  readonly network: string | null;
  readonly payinAddresses: readonly string[];
  readonly now: Instant;
}

/** Closes the books because the chain's network began anew. They open again at a balance of the new network. */
export function closeNetwork(state: BooksState, { network, payinAddresses, now }: NetworkEnd): Decision<BooksEvent> {
  if (state?.opened === null) return [];
  const at = state && (state.closed ?? state.opened);
  const last = at && {
    blockNumber: at.blockNumber.toString(),
    blockHash: at.blockHash,
    balances: textsOf(at.balances),
  };
  const data = { network, last, payinAddresses: [...payinAddresses], closedAt: now };
  return [{ type: 'BooksNetworkClosed', data: { reason: 'networkBegunAnew', ...data } }];
}

const lastOf = ({ opened, closed }: Books): Amounts => (closed ?? opened).balances;

function foundOpen({ open }: Books, look: Look, { rest, evidence }: Pick<Reckoned, 'rest' | 'evidence'>): BooksEvent[] {
  if (!look.patienceOver || (open && isNothing(plus(open.differences, rest, -1n)))) return [];
  const place = { blockNumber: look.standing.blockNumber.toString(), blockHash: look.standing.blockHash };
  const data = { ...place, differences: textsOf(nonZero(rest)), evidence, seenAt: look.now };
  return [{ type: 'BooksFoundOpen', data }];
}

/** An operator's word for what was found to differ. @param reason at most 400 characters */
export function explainDifference(books: BooksState, reason: string, now: Instant): Decision<BooksEvent> {
  const state = openIn(books);
  if (!state?.open)
    return refuse('illegalStep', 'no difference is recorded here: npm run treasury -- books shows them');
  const { blockNumber, differences } = state.open;
  const data = { blockNumber: blockNumber.toString(), differences: textsOf(differences), reason, explainedAt: now };
  return [{ type: 'DifferenceExplained', data }];
}
