/** How nonces are handed out, what their transfers take from the float, and how one that nobody needs is used up. */
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

// Why a treasury account signs nothing at all: an operator has paused it, or its nonces are used by somebody whom the log does not know.

const reconcile =
  'the log has lost its end or the key was used elsewhere; nothing is signed until an operator knows that transaction (npm run treasury -- adopt)';

/** While it lasts, no signature is made: of no transfer, fee bump or cancel. What is recorded may still be sent. */
export function objectionTo(state: TreasuryState): Refusal | undefined {
  const [strange] = state.taken;
  if (strange)
    return refuse('treasuryBehindChain', `${strange.detail}, and the log knows of no such one: ${reconcile}`);
  return whilePaused(state);
}

/** The same in a treasury's own stream, for all accounts that number its transfers. */
export function whilePaused({ paused, outflows }: Pick<TreasuryState, 'paused' | 'outflows'>): Refusal | undefined {
  const [strange] = outflows;
  if (strange)
    return refuse('treasuryBehindChain', `${strange.detail}, and the log knows of no such one: ${reconcile}`);
  return paused === null
    ? undefined
    : refuse('treasuryPaused', `payouts are paused (${paused}): npm run treasury -- resume`);
}

/** Refuses when the chain has mined transactions of the account that the log does not know. @param minedNonce its next nonce there */
export function behindChain({ nextNonce }: TreasuryState, minedNonce: bigint): Refusal | undefined {
  if (nextNonce === null || minedNonce <= nextNonce) return undefined;
  return refuse(
    'treasuryBehindChain',
    `the chain has mined up to nonce ${minedNonce}, the log assigned up to ${nextNonce}: ${reconcile}`,
  );
}

/** The same for a nonce that the log gave to a purpose and knows no signature of. @param what the purpose, in words */
export const minedUnsigned = (nonce: bigint, what: string): Refusal =>
  refuse(
    'treasuryBehindChain',
    `the chain has mined nonce ${nonce}, which the log gave to ${what} and knows no signature of: ${reconcile}`,
  );

/**
 * A transaction used a nonce up that is no recorded attempt and no recorded cancel. The account signs nothing from then on.
 * `[]` when that is known, adopted or explained.
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
 * An operator has found out what used the nonces that the log does not know of: the account goes on with the chain's next one.
 * Purposes whose nonces are below get others, so whatever was paid by those transactions must be on hold before.
 *
 * @param minedNonce the account's next nonce as its chain has mined it
 * @param reason at most 400 characters, for whoever asks why
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

/** @param reason at most 400 characters, for whoever asks why */
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

/** The nonce that a purpose already has: a restart finishes it instead of taking another. */
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
 * Ends the account's history on a network that began anew. Its next transfer opens a history at the new network's nonce. Transfers
 * that are signed keep their attempts: they are signed again only after a proof that no attempt can land.
 */
export function closeTreasuryNetwork(
  state: TreasuryState,
  { network, now }: { network: string | null; now: Instant },
): Decision<TreasuryEvent> {
  if (!state.opened) return [];
  return [{ type: 'TreasuryNetworkClosed', data: { reason: 'networkBegunAnew', network, closedAt: now } }];
}

export interface Assigning {
  /** Without a recorded signature: one that is recorded ends the purpose, and the next attempt is another purpose. */
  readonly purpose: Purpose;
  readonly moves: Moved;
  /**
   * The account's next nonce as its chain has mined it; ahead of the log it means a restored backup or a key used elsewhere: then nothing
   * may be signed, for the log does not know what was.
   */
  readonly minedNonce: bigint;
  readonly now: Instant;
}

/**
 * Gives the purpose the next nonce; `[]` when it has one. While the account signs nothing or the log is behind its chain, a purpose that
 * has its nonce is refused too.
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

/** The same for an account that may not be open yet. */
export function openAndAssign(
  state: TreasuryState,
  at: Assigning & { readonly chainId: ChainId; readonly account: string },
): Decision<TreasuryEvent> {
  const opening = openTreasury(state, at);
  if (isRefusal(opening)) return opening;
  const assigned = assignNonce(opening.reduce(treasury.evolve, state), at);
  return isRefusal(assigned) ? assigned : [...opening, ...assigned];
}

/** For an account of a chain without nonces: may a transfer be signed now? The first one opens the account's history. */
export function allowTransfer(
  state: TreasuryState,
  at: { chainId: ChainId; account: string; now: Instant },
): Decision<TreasuryEvent> {
  return objectionTo(state) ?? openTreasury(state, { ...at, minedNonce: 0n });
}

/**
 * What transfers that have a nonce and are not mined will take of a token, in smallest units. A balance shows it only when they are mined.
 * @param minedNonce read before the balance: what is mined in between counts twice and not never
 * @param but the purpose that asks
 */
export function unminedOf(state: TreasuryState, token: string, minedNonce: bigint, but: Purpose): bigint {
  const sums = state.assigned.map(({ nonce, purpose, moves }) =>
    nonce >= minedNonce && moves?.token === token && !samePurpose(purpose, but) ? BigInt(moves.amount) : 0n,
  );
  return sums.reduce((sum, amount) => sum + amount, 0n);
}

/**
 * Takes a nonce from a purpose that cannot use it now, by a signed transaction that does nothing; or outbids such a one. Appended BEFORE
 * the bytes are sent. `[]` when it is known, or when nobody has the nonce any more.
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

/** The cancelled nonce is used up for good. @param detail by which recorded transaction; `landed` tells of a cancel alone */
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
