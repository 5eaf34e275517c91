/**
 * The books of an account: what it held once, what is recorded since, and what it holds now must be the same to the last unit. What moved
 * is told by the streams of payments, operations and so on; here stand the opening, money that came from outside, and what was found.
 */
import { type Decision, refuse } from '../decider.ts';
import { coinAddress, rescale } from '../money.ts';
import type { Instant } from '../time.ts';
import { leastKept } from '../unmatched.ts';
import type { BooksData, BooksEvent } from './booksEvents.ts';
import {
  type Amounts,
  type At,
  type Books,
  type BooksState,
  isNothing,
  networksClosedIn,
  nonZero,
  openIn,
  plus,
  textsOf,
  topUpKey,
} from './booksState.ts';

// What a look at an account tells beside its books: what came from outside, and what is left that nothing explains.

/** A transaction that no recorded transfer names. */
export interface Unrecorded {
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Whether the account itself sent it. */
  readonly outgoing: boolean;
  /** What it did to the account, the fee that the account paid taken off. */
  readonly changes: Amounts;
  /** Who sent what came; null where several did. */
  readonly from: string | null;
  readonly fromDeposit: boolean;
}

export interface Look {
  /** Networks that were closed when the account was read. */
  readonly networksClosed: number;
  /** What the account held at the end of a final block. */
  readonly standing: At & { readonly balances: Amounts };
  /** What recorded transfers did to it since the opening, up to that block. */
  readonly moved: Amounts;
  /** Of the blocks since the books last closed, up to that one; null where the history was not read: then nothing is looked into. */
  readonly unrecorded: readonly Unrecorded[] | null;
  /** Whether the chain lists coin that others send. */
  readonly listsCoin: boolean;
  /** Tokens that come here are payins, or money that no payment takes up: they are waited for. By asset, its decimals; null where payments have addresses of their own. */
  readonly payinTokens: Readonly<Record<string, number>> | null;
  /** It has differed for so long that nothing that is under way can explain it. */
  readonly patienceOver: boolean;
  readonly closingDue: boolean;
  readonly now: Instant;
}

export interface Reckoned {
  readonly topUps: readonly BooksData<'TopUpSeen'>[];
  /** What the chain has more (or, negative, less) than the books, top-ups counted. */
  readonly rest: Amounts;
  /** Which transactions may explain it. */
  readonly evidence: string;
}

/** Told one by one; anybody may send dust, so that what is beyond is told in one sum. */
const oneByOneMax = 20;
const evidenceMax = 2_000;

export function reckon(state: Books, look: Look): Reckoned {
  const differs = plus(plus(look.standing.balances, state.own, -1n), look.moved, -1n);
  const { unrecorded } = look;
  if (unrecorded === null || Object.keys(nonZero(differs)).length === 0)
    return { topUps: [], rest: nonZero(differs), evidence: '' };
  const seen = unrecorded.flatMap((each) => topUpsOf(state, look, each));
  const listed = inBounds(seen, look);
  const left = plus(differs, sumOf(listed), -1n);
  const others = unrecorded.filter((each) => !isFromOutside(each) && Object.keys(nonZero(each.changes)).length > 0);
  const unlisted = look.listsCoin || others.length > 0 ? [] : coinTopUp(look, left[coinAddress] ?? 0n);
  const topUps = [...listed, ...unlisted];
  return { topUps, rest: nonZero(plus(differs, sumOf(topUps), -1n)), evidence: evidenceOf(others) };
}

/** Sent by somebody else, and it took nothing: money that was taken by others is no top-up. */
const isFromOutside = ({ outgoing, changes }: Unrecorded): boolean =>
  !outgoing && Object.values(changes).every((units) => units >= 0n);

type TopUp = BooksData<'TopUpSeen'>;

function topUpsOf(state: Books, look: Look, seen: Unrecorded): readonly TopUp[] {
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

/** A payin, or unmatched money, will be recorded by itself; what is too small to be kept is recorded nowhere else. */
function isAwaited({ payinTokens, patienceOver }: Look, asset: string, units: bigint): boolean {
  const decimals = payinTokens?.[asset];
  if (decimals === undefined) return false;
  const least = rescale(leastKept.value, leastKept.decimals, decimals);
  return units >= least || !patienceOver;
}

/** The largest one by one, the others of each asset in a sum. Where small payins are waited for there is no sum: the next look tells more. */
function inBounds(topUps: readonly TopUp[], { payinTokens }: Look): readonly TopUp[] {
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
  topUps.reduce<Amounts>((sum, { asset, amount }) => plus(sum, { [asset]: BigInt(amount) }), {});

/** What the balances alone show. */
function coinTopUp({ standing, now }: Look, units: bigint): readonly TopUp[] {
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
  if (!state) return refuse('illegalStep', 'the books are not open: the first comparison opens them');
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
