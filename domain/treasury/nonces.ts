/** Assigning nonces, their transfers' use of the float, and cancelling an unneeded nonce. */
import type { ChainId } from '../chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { LandedAt } from '../transfer/shapes.ts';
import type { Moved, Purpose, TreasuryEvent } from './events.ts';
import {
  cancelsMax,
  outstandingMax,
  type SignedCancel,
  type TakenNonce,
  type TreasuryState,
  treasury,
} from './state.ts';

// Reasons why a treasury account signs nothing at all: an operator paused it, or a transaction without a record used its nonces.

const reconcile =
  'the log has lost its end or the key was used elsewhere; nothing is signed until an operator knows that transaction (npm run treasury -- adopt)';

/** While it applies, no transfer, fee bump or cancel is signed. Recorded bytes may still be sent. */
export function objectionTo(state: TreasuryState): Refusal | undefined {
  const [strange] = state.taken;
  if (strange)
    return refuse('treasuryBehindChain', `${strange.detail}, and the log knows of no such one: ${reconcile}`);
  return whilePaused(state);
}

/** Objection that also applies to accounts without a numbering stream. */
export function whilePaused({ paused, outflows }: Pick<TreasuryState, 'paused' | 'outflows'>): Refusal | undefined {
  const [strange] = outflows;
  if (strange)
    return refuse('treasuryBehindChain', `${strange.detail}, and the log knows of no such one: ${reconcile}`);
  return paused === null
    ? undefined
    : refuse('treasuryPaused', `payouts are paused (${paused}): npm run treasury -- resume`);
}

/** Refuses if the chain has mined transactions of the account that the log does not know. @param minedNonce its next nonce there */
export function behindChain({ nextNonce }: TreasuryState, minedNonce: bigint): Refusal | undefined {
  if (nextNonce === null || minedNonce <= nextNonce) return undefined;
  return refuse(
    'treasuryBehindChain',
    `the chain has mined up to nonce ${minedNonce}, the log assigned up to ${nextNonce}: ${reconcile}`,
  );
}

/** Refusal for an assigned nonce without a known signature that the chain has mined. @param what the purpose, in words */
export const minedUnsigned = (nonce: bigint, what: string): Refusal =>
  refuse(
    'treasuryBehindChain',
    `the chain has mined nonce ${nonce}, which the log gave to ${what} and knows no signature of: ${reconcile}`,
  );

/**
 * A transaction that is neither a recorded attempt nor a recorded cancel used up a nonce. The account signs nothing from then on. Returns
 * `[]` if it is known, adopted or explained.
 */
export function reportTaken(
  { taken, adopted, explainedTo, betweenNetworks }: TreasuryState,
  { nonce, detail, proven, now }: TakenNonce & { now: Instant },
): Decision<TreasuryEvent> {
  if (betweenNetworks || nonce < explainedTo || [...taken, ...adopted].some((known) => known.nonce === nonce))
    return [];
  const data = { nonce: nonce.toString(), detail: detail.slice(0, 400), proven, seenAt: now };
  return [{ type: 'NonceTaken', data }];
}

/**
 * An operator explained the unknown uses of nonces: the account continues at the chain's next nonce. Purposes with lower nonces get others,
 * so payouts paid by those transactions must be on hold before.
 *
 * @param minedNonce the account's next nonce as its chain has mined it
 * @param reason at most 400 characters, for merchants and support
 */
export function explainNonces(
  state: TreasuryState,
  { minedNonce, reason, now }: { minedNonce: bigint; reason: string; now: Instant },
): Decision<TreasuryEvent> {
  if (!state.opened) return refuse('illegalStep', 'this account never paid anything: there is nothing to explain');
  const known = state.taken.length + state.outflows.length === 0 && behindChain(state, minedNonce) === undefined;
  if (known && minedNonce <= state.explainedTo) return [];
  return [{ type: 'NoncesExplained', data: { upTo: minedNonce.toString(), reason, explainedAt: now } }];
}

/** @param reason at most 400 characters, for merchants and support */
export function pausePayouts(state: TreasuryState, reason: string, now: Instant): Decision<TreasuryEvent> {
  if (!state.opened) {
    return refuse('illegalStep', 'this account never paid anything: leave the chain out of the configuration instead');
  }
  return state.paused === null ? [{ type: 'PayoutsPaused', data: { reason, pausedAt: now } }] : [];
}

export function resumePayouts(state: TreasuryState, now: Instant): Decision<TreasuryEvent> {
  return state.paused === null ? [] : [{ type: 'PayoutsResumed', data: { resumedAt: now } }];
}

const samePurpose = (a: Purpose, b: Purpose): boolean =>
  a.kind === b.kind && a.reference === b.reference && a.ordinal === b.ordinal;

/** Nonce that a purpose already has: a restarted process continues with it. */
export const nonceOf = (state: TreasuryState, purpose: Purpose): bigint | null =>
  state.assigned.find((assignment) => samePurpose(assignment.purpose, purpose))?.nonce ?? null;

export function openTreasury(
  state: TreasuryState,
  at: { chainId: ChainId; account: string; minedNonce: bigint; now: Instant },
): Decision<TreasuryEvent> {
  if (state.opened) return [];
  const { chainId, account, minedNonce, now } = at;
  return [{ type: 'TreasuryOpened', data: { chainId, account, firstNonce: minedNonce.toString(), openedAt: now } }];
}

/**
 * Ends the account's history on a network that was reset. Its next transfer opens a history at the new network's nonce. Signed transfers
 * keep their attempts: they are signed again only after a proof that no attempt can land.
 */
export function closeTreasuryNetwork(
  state: TreasuryState,
  { network, now }: { network: string | null; now: Instant },
): Decision<TreasuryEvent> {
  if (!state.opened) return [];
  return [{ type: 'TreasuryNetworkClosed', data: { reason: 'networkBegunAnew', network, closedAt: now } }];
}

export interface Assigning {
  /** Purpose without a recorded signature: a recorded one ends the purpose, and the next attempt is another purpose. */
  readonly purpose: Purpose;
  readonly moves: Moved;
  /**
   * The account's next nonce as its chain has mined it. A chain ahead of the log means a restored backup or a key used elsewhere: then
   * nothing may be signed.
   */
  readonly minedNonce: bigint;
  readonly now: Instant;
}

/**
 * Assigns the next nonce to the purpose; `[]` if it has one. While the account signs nothing, or the log is behind its chain, a purpose
 * with a nonce is refused too.
 */
export function assignNonce(
  state: TreasuryState,
  { purpose, moves, minedNonce, now }: Assigning,
): Decision<TreasuryEvent> {
  const { nextNonce } = state;
  if (nextNonce === null)
    return refuse('illegalStep', 'the treasury is not open: open it with the chain’s nonce first');
  const refusal = behindChain(state, minedNonce) ?? objectionTo(state);
  if (refusal) return refusal;
  const own = nonceOf(state, purpose);
  if (own !== null && own < minedNonce) return minedUnsigned(own, `${purpose.kind} ${purpose.reference}`);
  if (own !== null) return [];
  if (nextNonce - minedNonce >= BigInt(outstandingMax)) {
    return refuse(
      'treasuryBusy',
      `${outstandingMax} transactions are under way from this account: wait for one to be mined`,
    );
  }
  return [{ type: 'NonceAssigned', data: { nonce: nextNonce.toString(), purpose, moves, assignedAt: now } }];
}

/** Assigns a nonce, and opens the account first if needed. */
export function openAndAssign(
  state: TreasuryState,
  at: Assigning & { readonly chainId: ChainId; readonly account: string },
): Decision<TreasuryEvent> {
  const opening = openTreasury(state, at);
  if (isRefusal(opening)) return opening;
  const assigned = assignNonce(opening.reduce(treasury.evolve, state), at);
  return isRefusal(assigned) ? assigned : [...opening, ...assigned];
}

/** For an account without nonces: decides whether a transfer may be signed now. The first one opens the account's history. */
export function allowTransfer(
  state: TreasuryState,
  at: { chainId: ChainId; account: string; now: Instant },
): Decision<TreasuryEvent> {
  return objectionTo(state) ?? openTreasury(state, { ...at, minedNonce: 0n });
}

/**
 * Amount of a token, in smallest units, that transfers with unmined nonces will use. The balance excludes it until they are mined.
 * @param minedNonce read before the balance, so a transfer mined in between counts twice rather than never
 * @param but the caller's own purpose
 */
export function unminedOf(state: TreasuryState, token: string, minedNonce: bigint, but: Purpose): bigint {
  const sums = state.assigned.map(({ nonce, purpose, moves }) =>
    nonce >= minedNonce && moves?.token === token && !samePurpose(purpose, but) ? BigInt(moves.amount) : 0n,
  );
  return sums.reduce((sum, amount) => sum + amount, 0n);
}

/**
 * Takes a nonce from a purpose that cannot use it now, by a signed transaction without effect; or outbids such a transaction. Appended
 * BEFORE the bytes are sent. `[]` if it is known, or if no purpose has the nonce any more.
 */
export function cancelNonce(
  state: TreasuryState,
  cancel: { nonce: bigint; hash: string; bytes: string; fee: Readonly<Record<string, string>>; now: Instant },
): Decision<TreasuryEvent> {
  const objection = objectionTo(state);
  if (objection) return objection;
  const { nonce, hash, bytes, fee, now } = cancel;
  const before = state.cancelled.find((each) => each.nonce === nonce);
  if (before?.usedUp) return [];
  const known = before?.signed ?? [];
  const isAssigned = state.assigned.some((assignment) => assignment.nonce === nonce);
  if ((!isAssigned && known.length === 0) || known.some((each) => each.hash === hash)) return [];
  if (known.length >= cancelsMax)
    return refuse('illegalStep', `${cancelsMax} cancels of nonce ${nonce} are signed: check the node and the fees`);
  const last = known.at(-1);
  if (last && !outbids(last, fee))
    return refuse('illegalStep', `a cancel of nonce ${nonce} is outbid by higher fees only`);
  const data = { nonce: nonce.toString(), hash, bytes, fee: { ...fee }, cancelledAt: now };
  return [{ type: 'NonceCancelled', data }];
}

function outbids({ fee: last }: SignedCancel, fee: Readonly<Record<string, string>>): boolean {
  const caps = Object.entries(last ?? {}).filter(([name]) => name.startsWith('max'));
  return caps.every(([name, cap]) => BigInt(fee[name] ?? '0') > BigInt(cap));
}

/** The cancelled nonce is used up for good. @param detail the recorded transaction; `landed` only for a cancel */
export const useUpNonce = (
  state: TreasuryState,
  { nonce, detail, landed, now }: { nonce: bigint; detail: string; landed?: LandedAt | undefined; now: Instant },
): Decision<TreasuryEvent> => {
  const own = state.cancelled.find((each) => each.nonce === nonce && !each.usedUp);
  if (!own) return [];
  const isCancel = landed !== undefined && own.signed.some(({ hash }) => hash === landed.hash);
  const data = { nonce: nonce.toString(), detail: detail.slice(0, 400), ...(isCancel && { landed }), usedAt: now };
  return [{ type: 'NonceUsedUp', data }];
};
