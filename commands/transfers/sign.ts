/** A transfer's attempts are signed and recorded. How they are sent, and what becomes of them: the worker of transfers. */
import { assert, isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { unitsText } from '../../domain/money.ts';
import { epochMs, type Instant } from '../../domain/time.ts';
import { floatTaken } from '../../domain/transfer/form.ts';
import { isSpent, liveAttempts, noncesUsedUp, type TransferLeg } from '../../domain/transfer/leg.ts';
import { attemptsSpent } from '../../domain/transfer/rules.ts';
import type { AssetRef, SignedAttempt } from '../../domain/transfer/shapes.ts';
import { allowTransfer } from '../../domain/treasury/nonces.ts';
import { outstandingMax, treasury, treasuryInstance } from '../../domain/treasury/state.ts';
import type { CrashPoint } from '../ports.ts';
import { isCancelled, releaseNonce } from './cancels.ts';
import {
  type Chosen,
  causeOf,
  hasNonce,
  type NumberingDeps,
  numberingAccountFor,
  numberingAccountsOf,
  objectionToSigning,
  refusalToNumber,
  spokenFor,
  takeNonce,
  type Wanted,
  wasBusy,
} from './numberingAccounts.ts';
import type { Outgoing, Recorded, StillFunded, TransferOwner } from './outgoing.ts';
import {
  PayoutBlocked,
  type PayoutRail,
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from './ports.ts';

export interface SignDeps extends NumberingDeps {
  readonly rail: PayoutRail;
  readonly signer: Signer;
  readonly crash: CrashPoint;
  /** Asked last before a nonce is taken or, where there is none, before a signature. @throws PayoutBlocked when the money has left */
  readonly stillFunded: StillFunded;
  /** Where there are no nonces: what other transfers that are signed and not settled take of an asset, in smallest units. */
  readonly unsettled: (token: AssetRef, but: string) => Promise<bigint>;
  /** One at a time per treasury: between a nonce taken and its bytes recorded nobody else takes the next. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Signs the next attempt of a transfer and has its owner append it. Nothing is sent here: only bytes read back from the stream are.
 *
 * What the chain has to be asked is asked before the turn, of many transfers at a time; in turn the log alone is.
 *
 * Crash after NonceAssigned: the restart finds the nonce by its purpose and goes on with it. After signing, before the append: the
 * signature is lost, nobody has it, and it is made again. Two workers: both get the same nonce, one append succeeds, the other is refused
 * by the stream's state.
 *
 * @throws PayoutBlocked, SigningRefused before any nonce is taken, when float, gas, the token or the signer forbid it now
 */
export async function signTransfer(
  deps: SignDeps,
  owner: Pick<TransferOwner, 'sign'>,
  outgoing: Outgoing,
  signal: AbortSignal,
): Recorded {
  const { key, leg, purpose } = outgoing;
  if (isSpent(leg)) return attemptsSpent(leg);
  const order = orderOf(outgoing);
  const signing = signingFor(outgoing);
  const wanted = { ...wantedBy(outgoing), signing };
  const replaced = liveAttempts(leg).at(-1);
  try {
    const prepared = replaced ? null : await prepareBefore(deps, wanted, order, signal);
    if (isRefusal(prepared)) return prepared;
    const madeInTurn = async () => {
      if (replaced) return bump(deps, order, replaced);
      return prepared && isFresh(deps, prepared, preparedFor_ms)
        ? numberPrepared(deps, prepared, wanted)
        : numbered(deps, wanted, order, signal);
    };
    return await deps.inTurn(async () => {
      const unsigned = await madeInTurn();
      if (isRefusal(unsigned)) return unsigned;
      await deps.crash(`${signing.kind}.beforeSign`);
      const signed = await deps.signer.sign(unsigned, signing);
      await deps.crash(`${signing.kind}.afterSign`);
      return owner.sign(key, attemptOf(leg, unsigned, signed, deps.clock.now()));
    });
  } finally {
    deps.memory.reserved.release(purpose.reference);
  }
}

const orderOf = ({ order, leg }: Outgoing): TransferOrder => ({
  ...order,
  ...(leg.attempts.length > 0 && { earlier: leg.attempts.map(({ signed }) => signed.hash) }),
});

const signingFor = ({ purpose, appId }: Outgoing): SigningPurpose => ({
  ...purpose,
  ...(appId !== null && { appId }),
});

/** What is wanted, and for whom it is signed. */
type Signing = Wanted & { readonly signing: SigningPurpose };

const wantedBy = ({ purpose, leg }: Outgoing): Wanted => ({
  purpose: { ...purpose, ordinal: noncesUsedUp(leg) + 1 },
  moves: { token: leg.order.token.address, amount: unitsText(floatTaken(leg.order)) },
});

/** Whether it is of no use to sign a transfer now: its account was seen busy, no longer ago than that. Asks nobody. */
export const mustWait = (deps: Pick<SignDeps, 'clock' | 'memory'>, outgoing: Outgoing, lately_ms: number): boolean =>
  liveAttempts(outgoing.leg).length === 0 && wasBusy(deps, wantedBy(outgoing), lately_ms);

/** The same transfer with a higher fee. */
async function bump(deps: SignDeps, order: TransferOrder, replaced: SignedAttempt): Promise<Unsigned | Refusal> {
  assert(replaced.nonce !== null, 'only what shares a nonce can be replaced: of two others both might land');
  const objection = await objectionToSigning(deps, replaced.account);
  if (objection) return objection;
  if (await isCancelled(deps, replaced.account, BigInt(replaced.nonce)))
    return refuse('treasuryBusy', `nonce ${replaced.nonce} was given up: its cancel is on the way`);
  const unsigned = await deps.rail.prepare(order, BigInt(replaced.nonce), replaced, replaced.account);
  // The chain was asked meanwhile: payouts may have been paused.
  return (await objectionToSigning(deps, replaced.account)) ?? unsigned;
}

/** A transfer of which its chain has been asked all. */
interface Prepared {
  readonly chosen: Chosen;
  readonly unsigned: Unsigned;
  /** When the money behind it was last shown. */
  readonly shownAt_ms: number;
}

/** So long the money behind a transfer counts as shown while it waits for its turn; after that it is asked for again. */
const shownFor_ms = 2_000;
/** After so long all is asked again: fees have moved on. */
const preparedFor_ms = 15_000;

/**
 * Prepares a transfer that has no nonce yet, beside others that do the same: what it will take is reserved.
 * @returns null where it has to be done in turn: it may have a nonce, which it gives back when it cannot be made, or the chain has none
 * @throws PayoutBlocked
 */
async function prepareBefore(
  deps: SignDeps,
  wanted: Signing,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Prepared | Refusal | null> {
  const chosen = await chosenFor(deps, wanted, signal);
  if (!chosen) return null;
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal) return refusal;
  if (hasNonce(deps, chosen, wanted)) return null;
  const unsigned = await prepareUnder(deps, order, chosen, wanted);
  await deps.stillFunded();
  return { chosen, unsigned, shownAt_ms: epochMs(deps.clock.now()) };
}

/** In turn: the signer, who counts what others had signed meanwhile, says yes before the nonce is taken. */
async function numberPrepared(deps: SignDeps, prepared: Prepared, wanted: Signing): Promise<Unsigned | Refusal> {
  const chosen = asSeenSince(deps, prepared.chosen);
  const { unsigned } = prepared;
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal) return refusal;
  await deps.signer.check(unsigned, wanted.signing);
  if (!isFresh(deps, prepared, shownFor_ms)) await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : deps.rail.numbered(unsigned, nonce);
}

/** What was mined while it was prepared and waited leaves room for its nonce: others have asked since. */
function asSeenSince({ memory }: Pick<SignDeps, 'memory'>, { numbering, accounts }: Chosen): Chosen {
  const seen = memory.accounts.find(({ account }) => account === numbering.account);
  if (!seen || seen.minedNonce <= numbering.minedNonce) return { numbering, accounts };
  return { numbering: { ...numbering, minedNonce: seen.minedNonce }, accounts };
}

const isFresh = ({ clock }: Pick<SignDeps, 'clock'>, { shownAt_ms }: Prepared, for_ms: number): boolean =>
  epochMs(clock.now()) - shownAt_ms <= for_ms;

async function chosenFor(deps: SignDeps, { purpose }: Wanted, signal: AbortSignal): Promise<Chosen | undefined> {
  const accounts = await numberingAccountsOf(deps, signal);
  const numbering = numberingAccountFor(accounts, purpose.reference);
  return numbering && { numbering, accounts };
}

/**
 * The transfer under the purpose's own nonce, or under the account's next.
 *
 * The transfer is prepared and checked before the nonce is taken: a nonce taken for what cannot be sent would block the account.
 * Between the nonce and the signature the chain is not asked about the transfer again.
 */
async function numbered(
  deps: SignDeps,
  wanted: Signing,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Unsigned | Refusal> {
  const chosen = await chosenFor(deps, wanted, signal);
  if (!chosen) return withoutNonce(deps, order, wanted);
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal) return refusal;
  const prepared = await prepareFor(deps, order, chosen, wanted);
  await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : deps.rail.numbered(prepared, nonce);
}

/** A nonce that it has goes back when it cannot be made now. */
async function prepareFor(deps: SignDeps, order: TransferOrder, chosen: Chosen, wanted: Signing): Promise<Unsigned> {
  try {
    const prepared = await prepareUnder(deps, order, chosen, wanted);
    await deps.signer.check(prepared, wanted.signing);
    return prepared;
  } catch (error) {
    if (holdsUpOthers(error)) await releaseNonce(deps, chosen.numbering, wanted.purpose);
    throw error;
  }
}

/** Prepared under a nonce that nobody can hold: the signer counts by nonce, and an outstanding one would hide its own amount. */
async function prepareUnder(deps: SignDeps, order: TransferOrder, chosen: Chosen, wanted: Wanted): Promise<Unsigned> {
  const { account, minedNonce } = chosen.numbering;
  const whole = { ...order, spokenFor: await spokenFor(deps, chosen, wanted) };
  return deps.rail.prepare(whole, minedNonce + BigInt(outstandingMax), undefined, account);
}

/** An account without nonces is opened and paused all the same. */
async function withoutNonce(
  { handle, rail, clock, unsettled, stillFunded }: SignDeps,
  order: TransferOrder,
  { purpose }: Wanted,
): Promise<Unsigned | Refusal> {
  const { chainId, account } = rail;
  const allowed = () =>
    handle(
      treasury,
      treasuryInstance(chainId, account),
      (state) => allowTransfer(state, { chainId, account, now: clock.now() }),
      { cause: causeOf(purpose), appId: null },
    );
  const refusal = await allowed();
  if (isRefusal(refusal)) return refusal;
  const whole = { ...order, spokenFor: await unsettled(order.token, purpose.reference) };
  const prepared = await rail.prepare(whole, null, undefined, account);
  await stillFunded();
  // The chain was asked meanwhile: payouts may have been paused.
  const still = await allowed();
  return isRefusal(still) ? still : prepared;
}

/** Without coin nothing can be sent at all, a cancel neither. */
const holdsUpOthers = (error: unknown): boolean =>
  error instanceof SigningRefused || (error instanceof PayoutBlocked && error.reason !== 'gas');

function attemptOf(
  leg: TransferLeg,
  unsigned: Unsigned,
  signed: { bytes: string; hash: string },
  now: Instant,
): SignedAttempt {
  const { order } = unsigned;
  return {
    attempt: leg.attempts.length + 1,
    chainId: unsigned.chainId,
    account: unsigned.account,
    nonce: unsigned.nonce === null ? null : unitsText(unsigned.nonce),
    hash: signed.hash,
    bytes: signed.bytes,
    validUntil: unsigned.validUntil,
    fee: { ...unsigned.fee },
    token: order.token,
    receiver: order.receiver,
    receiverMemo: order.receiverMemo,
    amount: unitsText(order.amount),
    signedAt: now,
  };
}
