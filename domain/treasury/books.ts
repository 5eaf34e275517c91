/**
 * Books of an account: the opening balance plus all recorded movements must equal the current balance, exactly. Streams of payments,
 * operations and others record the movements; this stream records the opening, money from outside, and findings.
 */
import { type Decision, refuse } from '../decider.ts';
import { coinAddress, rescale } from '../money.ts';
import type { Instant } from '../time.ts';
import { leastKept } from '../unmatched.ts';
import {
  type Amounts,
  type At,
  addAmounts,
  type Books,
  type BooksData,
  type BooksEvent,
  type BooksState,
  isNothing,
  networksClosedIn,
  nonZero,
  openIn,
  textsOf,
  topUpKey,
} from './booksState.ts';

// Comparison of an account with its books: money from outside, and an unexplained rest.

/** A transaction that no recorded transfer names. */
export interface Unrecorded {
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** True if the account itself sent it. */
  readonly outgoing: boolean;
  /** Changes of the account's balances, without the fee that the account paid. */
  readonly changes: Amounts;
  /** Sender of the received money; null for several senders. */
  readonly from: string | null;
  readonly fromDeposit: boolean;
}

export interface BooksComparisonInput {
  /** Number of networks closed when the account was read. */
  readonly networksClosed: number;
  /** Balances of the account at the end of a final block. */
  readonly standing: At & { readonly balances: Amounts };
  /** Movements by recorded transfers from the opening to that block. */
  readonly moved: Amounts;
  /** Unrecorded transactions from the last closing to that block; null if the history was not read: then none are examined. */
  readonly unrecorded: readonly Unrecorded[] | null;
  /** True if the chain lists received coin. */
  readonly listsCoin: boolean;
  /**
   * Tokens whose arrivals become payins or unmatched money, with their decimals, by asset: the books wait for those records. Null if
   * payments have their own addresses.
   */
  readonly payinTokens: Readonly<Record<string, number>> | null;
  /** True if the difference has lasted longer than any pending transfer can explain. */
  readonly patienceOver: boolean;
  readonly closingDue: boolean;
  readonly now: Instant;
}

export interface Reckoned {
  readonly topUps: readonly BooksData<'TopUpSeen'>[];
  /** Excess of the chain over the books (negative: shortfall), after top-ups. */
  readonly rest: Amounts;
  /** Transactions that may explain it. */
  readonly evidence: string;
}

/** Maximum top-ups recorded one by one. Anyone may send dust, so the others are recorded as one sum. */
const oneByOneMax = 20;
const evidenceMax = 2_000;

export function reckon(state: Books, look: BooksComparisonInput): Reckoned {
  const differs = addAmounts(addAmounts(look.standing.balances, state.own, -1n), look.moved, -1n);
  const { unrecorded } = look;
  if (unrecorded === null || Object.keys(nonZero(differs)).length === 0)
    return { topUps: [], rest: nonZero(differs), evidence: '' };
  const seen = unrecorded.flatMap((each) => topUpsOf(state, look, each));
  const listed = inBounds(seen, look);
  const left = addAmounts(differs, sumOf(listed), -1n);
  const others = unrecorded.filter((each) => !isFromOutside(each) && Object.keys(nonZero(each.changes)).length > 0);
  const unlisted = look.listsCoin || others.length > 0 ? [] : coinTopUp(look, left[coinAddress] ?? 0n);
  const topUps = [...listed, ...unlisted];
  return { topUps, rest: nonZero(addAmounts(differs, sumOf(topUps), -1n)), evidence: evidenceOf(others) };
}

/** Sent from outside without debiting the account: a debit by somebody else is no top-up. */
const isFromOutside = ({ outgoing, changes }: Unrecorded): boolean =>
  !outgoing && Object.values(changes).every((units) => units >= 0n);

type TopUp = BooksData<'TopUpSeen'>;

function topUpsOf(state: Books, look: BooksComparisonInput, seen: Unrecorded): readonly TopUp[] {
  if (!isFromOutside(seen)) return [];
  const { txHash: hash, blockNumber, blockHash, changes, from, fromDeposit } = seen;
  const transaction = { hash, blockNumber: blockNumber.toString(), blockHash };
  return Object.entries(nonZero(changes))
    .filter(([asset, units]) => !isTold(state, seen, asset) && !isAwaited(look, asset, units))
    .map(([asset, units]) => ({
      asset,
      amount: units.toString(),
      from,
      ...(fromDeposit && { fromDeposit }),
      transaction,
      upTo: look.standing.blockNumber.toString(),
      seenAt: look.now,
    }));
}

const isTold = ({ topUps, summedTo }: Books, { txHash, blockNumber }: Unrecorded, asset: string): boolean =>
  topUps.has(topUpKey(txHash, asset)) || blockNumber <= (summedTo[asset] ?? -1n);

/** True if a payin or unmatched money will be recorded. An amount below the minimum is recorded only here. */
function isAwaited({ payinTokens, patienceOver }: BooksComparisonInput, asset: string, units: bigint): boolean {
  const decimals = payinTokens?.[asset];
  if (decimals === undefined) return false;
  const least = rescale(leastKept.value, leastKept.decimals, decimals);
  return units >= least || !patienceOver;
}

/**
 * Keeps the largest top-ups one by one and sums the others per asset. Accounts that wait for small payins have no sum: the next comparison
 * records more.
 */
function inBounds(topUps: readonly TopUp[], { payinTokens }: BooksComparisonInput): readonly TopUp[] {
  const largest = topUps.toSorted((a, b) => (BigInt(a.amount) < BigInt(b.amount) ? 1 : -1));
  const [told, others] = [largest.slice(0, oneByOneMax), largest.slice(oneByOneMax)];
  const sums = [...Map.groupBy(others, ({ asset }) => asset).values()].flatMap((same) => {
    const [first] = same;
    if (!first || payinTokens?.[first.asset] !== undefined) return [];
    if (same.length < 2) return same;
    const amount = same.reduce((sum, each) => sum + BigInt(each.amount), 0n).toString();
    const { asset, upTo, seenAt } = first;
    return [{ asset, amount, from: null, transaction: null, count: same.length, upTo, seenAt }];
  });
  return [...told, ...sums];
}

const sumOf = (topUps: readonly TopUp[]): Amounts =>
  topUps.reduce<Amounts>((sum, { asset, amount }) => addAmounts(sum, { [asset]: BigInt(amount) }), {});

/** Top-up of coin that only the balances reveal. */
function coinTopUp({ standing, now }: BooksComparisonInput, units: bigint): readonly TopUp[] {
  if (units <= 0n) return [];
  const upTo = standing.blockNumber.toString();
  return [{ asset: coinAddress, amount: units.toString(), from: null, transaction: null, upTo, seenAt: now }];
}

function evidenceOf(others: readonly Unrecorded[]): string {
  const told = others.map(({ txHash, blockNumber, outgoing, changes }) => {
    const moved = Object.entries(nonZero(changes)).map(([asset, units]) => `${units} of ${asset}`);
    return `${outgoing ? 'sent' : 'received'} ${txHash} in block ${blockNumber}: ${moved.join(', ')}`;
  });
  return told.join('; ').slice(0, evidenceMax);
}

export interface Opening extends At {
  readonly chainId: BooksData<'BooksOpened'>['chainId'];
  readonly account: string;
  readonly balances: Amounts;
  /** Number of networks closed when the balances were read. */
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
 * Records a comparison: top-ups; that the books close, at most every `look.closingDue` unless they were open or the balances changed; and
 * that they are open, once that has lasted.
 */
export function recordLook(books: BooksState, look: BooksComparisonInput): Decision<BooksEvent> {
  const state = openIn(books);
  if (look.networksClosed !== networksClosedIn(books)) return ofOldNetwork();
  if (!state) return refuse('illegalStep', 'the books are not open: the first comparison opens them');
  const { blockNumber, blockHash } = look.standing;
  if (blockNumber <= (state.closed ?? state.opened).blockNumber) return [];
  const { topUps, rest, evidence } = reckon(state, look);
  const place = { blockNumber: blockNumber.toString(), blockHash };
  const found = topUps.map((data): BooksEvent => ({ type: 'TopUpSeen', data }));
  if (!isNothing(rest)) return [...found, ...foundOpen(state, look, { rest, evidence })];
  const { balances } = look.standing;
  const isNews = state.open !== null || (look.closingDue && !isNothing(addAmounts(balances, lastOf(state), -1n)));
  if (!isNews && state.closed !== null) return found;
  return [...found, { type: 'BooksClosed', data: { ...place, balances: textsOf(balances), closedAt: look.now } }];
}

const ofOldNetwork = () =>
  refuse('conflict', 'the balance was read before the books of its network were closed: read the balance again');

export interface NetworkEnd {
  /** Value that identified the old network. */
  readonly network: string | null;
  readonly payinAddresses: readonly string[];
  readonly now: Instant;
}

/** Closes the books because the chain's network was reset. They reopen with a balance of the new network. */
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

function foundOpen(
  { open }: Books,
  look: BooksComparisonInput,
  { rest, evidence }: Pick<Reckoned, 'rest' | 'evidence'>,
): BooksEvent[] {
  if (!look.patienceOver || (open && isNothing(addAmounts(open.differences, rest, -1n)))) return [];
  const place = { blockNumber: look.standing.blockNumber.toString(), blockHash: look.standing.blockHash };
  const data = { ...place, differences: textsOf(nonZero(rest)), evidence, seenAt: look.now };
  return [{ type: 'BooksFoundOpen', data }];
}

/** Operator's explanation of a difference. @param reason at most 400 characters */
export function explainDifference(books: BooksState, reason: string, now: Instant): Decision<BooksEvent> {
  const state = openIn(books);
  if (!state?.open)
    return refuse('illegalStep', 'no difference is recorded here: npm run treasury -- books shows them');
  const { blockNumber, differences } = state.open;
  const data = { blockNumber: blockNumber.toString(), differences: textsOf(differences), reason, explainedAt: now };
  return [{ type: 'DifferenceExplained', data }];
}
