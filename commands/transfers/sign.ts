/** A transfer's attempts are signed and recorded. How they are sent, and what becomes of them: the worker of transfers. */
import { assert, isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { unitsText } from '../../domain/money.ts';
import type { Instant } from '../../domain/time.ts';
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
}

/**
 * Signs the next attempt of a transfer and has its owner append it. Nothing is sent here: only bytes read back from the stream are.
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
  const { key, leg } = outgoing;
  if (isSpent(leg)) return attemptsSpent(leg);
  const order = orderOf(outgoing);
  const signing = signingFor(outgoing);
  const replaced = liveAttempts(leg).at(-1);
  const unsigned = replaced
    ? await bump(deps, order, replaced)
    : await numbered(deps, { ...wantedBy(outgoing), signing }, order, signal);
  if (isRefusal(unsigned)) return unsigned;
  await deps.crash(`${signing.kind}.beforeSign`);
  const signed = await deps.signer.sign(unsigned, signing);
  await deps.crash(`${signing.kind}.afterSign`);
  return owner.sign(key, attemptOf(leg, unsigned, signed, deps.clock.now()));
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
  const accounts = await numberingAccountsOf(deps, signal);
  const numbering = numberingAccountFor(accounts, wanted.purpose.reference);
  if (!numbering) return withoutNonce(deps, order, wanted);
  const chosen = { numbering, accounts };
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal) return refusal;
  const prepared = await prepareFor(deps, order, chosen, wanted);
  await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : deps.rail.numbered(prepared, nonce);
}

/** Prepared under a nonce that nobody can hold: the signer counts by nonce, and an outstanding one would hide its own amount. */
async function prepareFor(deps: SignDeps, order: TransferOrder, chosen: Chosen, wanted: Signing): Promise<Unsigned> {
  const { rail, signer } = deps;
  const { account, minedNonce } = chosen.numbering;
  const { purpose } = wanted;
  try {
    const whole = { ...order, spokenFor: await spokenFor(deps, chosen, wanted) };
    const prepared = await rail.prepare(whole, minedNonce + BigInt(outstandingMax), undefined, account);
    await signer.check(prepared, wanted.signing);
    return prepared;
  } catch (error) {
    if (holdsUpOthers(error)) await releaseNonce(deps, chosen.numbering, purpose);
    throw error;
  }
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
