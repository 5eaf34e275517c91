/** How nonces are handed out, what their transfers take from the float, and how one that nobody needs is used up. */
import type { ChainId } from '../chains.ts';
import { type Decision, isRefusal, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { LandedAt } from '../transfer/shapes.ts';
import type { Moved, Purpose, TreasuryEvent } from './events.ts';
import { behindChain, minedUnsigned, objectionTo } from './objections.ts';
import { cancelsMax, outstandingMax, type SignedCancel, type TreasuryState, treasury } from './state.ts';

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
    return refuse('illegalStep', `${cancelsMax} cancels of nonce ${nonce} are signed: look at the node and the fees`);
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
