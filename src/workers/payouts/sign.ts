/** Signs and records a transfer's attempts. The payout worker sends them and follows their fate. */
import type { CrashPoint } from '../../../commands/ports.ts';
import {
  type AppendResult,
  type ExpiringNumbering,
  isNumbered,
  type NumberedRail,
  type Outgoing,
  PayoutBlocked,
  type PayoutRail,
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type StillFunded,
  type TransferOrder,
  type TransferOwner,
  type Unsigned,
} from '../../../commands/transferPorts.ts';
import { assert, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { unitsText } from '../../../domain/money.ts';
import { epochMs, type Instant } from '../../../domain/time.ts';
import { isSpent, liveAttempts, noncesUsedUp, type TransferLeg } from '../../../domain/transfer/leg.ts';
import { attemptsSpent } from '../../../domain/transfer/record.ts';
import { type AssetRef, floatTaken, type SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { allowTransfer } from '../../../domain/treasury/nonces.ts';
import { outstandingMax, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { isCancelled, releaseNonce } from './cancels.ts';
import {
  busyAsSeen,
  type Chosen,
  causeOf,
  hasNonce,
  type NonceRequest,
  type NumberingDeps,
  numberingAccountFor,
  numberingAccountsOf,
  objectionToSigning,
  refusalToNumber,
  spokenFor,
  takeNonce,
  wereSeen,
} from './numberingAccounts.ts';

// Prepares a transfer before its turn, concurrently with others, so that its chain is queried before the turn; within the turn only the log
// is read.

interface PrepareDeps extends Omit<NumberingDeps, 'rail'> {
  readonly signer: Signer;
  /**
   * Called at most `shownFor_ms` before a nonce is assigned or, for expiring transfers, before a signature. @throws PayoutBlocked if the
   * money has left
   */
  readonly stillFunded: StillFunded;
  /** Check interval of a busy account while prepared transfers wait for a nonce. */
  readonly look_ms: number;
}

interface NumberedDeps extends PrepareDeps {
  readonly rail: NumberedRail;
}

interface ExpiringDeps extends PrepareDeps {
  readonly rail: PayoutRail<ExpiringNumbering>;
  /** Amount of an asset that other signed and unsettled transfers use, in smallest units. */
  readonly unsettled: (token: AssetRef, but: string) => Promise<bigint>;
}

/** The wanted nonce, and the purpose of the signature. */
type Signing = NonceRequest & { readonly signing: SigningPurpose };

/** A transfer after all queries of its chain. */
interface Prepared {
  readonly unsigned: Unsigned;
  /** Time of the proof of its funding. */
  readonly shownAt_ms: number;
}

interface PreparedForNonce extends Prepared {
  readonly chosen: Chosen;
}

/** Life of the funding proof while a transfer waits for its turn; after that it is proven again. */
const shownFor_ms = 2_000;
/** Life of a preparation: fees change. */
const preparedFor_ms = 15_000;

/** Prepares a transfer and proves its funding concurrently. @throws PayoutBlocked */
async function preparedBy(deps: PrepareDeps, preparing: () => Promise<Unsigned>): Promise<Prepared> {
  const shownAt_ms = epochMs(deps.clock.now());
  const unsignedSoon = preparing();
  const showing = deps.stillFunded();
  showing.catch(() => {});
  // In this order: the account's own lack is reported first.
  const unsigned = await unsignedSoon;
  await showing;
  return { unsigned, shownAt_ms };
}

const isFresh = ({ clock }: Pick<PrepareDeps, 'clock'>, { shownAt_ms }: Prepared, for_ms: number): boolean =>
  epochMs(clock.now()) - shownAt_ms <= for_ms;

// Nonces and sequence numbers: the transfer is prepared under a number that nobody has, and gets its own number within the turn.

/**
 * Prepares a transfer without a nonce, concurrently with others: its amount is reserved.
 * @returns null if it must be done within the turn: it may have a nonce, which it returns if it cannot be built
 * @throws PayoutBlocked
 */
async function prepareBefore(
  deps: NumberedDeps,
  wanted: Signing,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<PreparedForNonce | Refusal | null> {
  const chosen = await chosenFor(deps, wanted, signal);
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal && !mayWait(deps, wanted, refusal)) return refusal;
  if (hasNonce(deps, chosen, wanted)) return null;
  const prepared = await preparedBy(deps, () => prepareUnder(deps, order, chosen, wanted));
  return { ...prepared, chosen };
}

/** @returns the transaction to sign, under its nonce. An outdated preparation is repeated. */
function numberInTurn(
  deps: NumberedDeps,
  {
    prepared,
    order,
    wanted,
  }: { readonly prepared: PreparedForNonce | null; readonly order: TransferOrder; readonly wanted: Signing },
  signal: AbortSignal,
): Promise<Unsigned | Refusal> {
  return prepared && isFresh(deps, prepared, preparedFor_ms)
    ? numberPrepared(deps, prepared, wanted)
    : numbered(deps, wanted, order, signal);
}

/**
 * Waits until the account of a prepared transfer has a free nonce, within the life of the preparation.
 * @returns true if it should request one again
 */
async function nonceComes(
  deps: NumberedDeps,
  { prepared, wanted, refusal }: { readonly prepared: Prepared; readonly wanted: Signing; readonly refusal: Refusal },
  signal: AbortSignal,
): Promise<boolean> {
  const { memory, clock, look_ms } = deps;
  if (!mayWait(deps, wanted, refusal)) return false;
  for (let looks = 0; looks < preparedFor_ms / look_ms; looks += 1) {
    // One read serves all waiters.
    memory.looking ??= clock
      .sleep(look_ms, signal)
      .then(() => numberingAccountsOf(deps, signal))
      .finally(() => {
        memory.looking = null;
      });
    const seen = await memory.looking.catch(() => null);
    if (seen === null || signal.aborted || !isFresh(deps, prepared, preparedFor_ms)) return false;
    if (!busyAsSeen(deps, wanted)) return true;
  }
  return false;
}

/** The number of waiters is the number of nonces: each gets its nonce as soon as it is free. The others are skipped until then. */
function mayWait({ memory: { waiting } }: NumberedDeps, { purpose }: NonceRequest, { refused }: Refusal): boolean {
  if (refused !== 'treasuryBusy') return false;
  if (waiting.size < outstandingMax) waiting.add(purpose.reference);
  return waiting.has(purpose.reference);
}

/** Within the turn: the signer, who counts concurrent signatures, approves before the nonce is assigned. */
async function numberPrepared(
  deps: NumberedDeps,
  prepared: PreparedForNonce,
  wanted: Signing,
): Promise<Unsigned | Refusal> {
  const { unsigned } = prepared;
  const { numbering } = deps.rail;
  const chosen = asSeenSince(deps, prepared.chosen);
  // The remembered state may wrongly promise a nonce; that all are in use is always right.
  const refusal = busyAsSeen(deps, wanted) ?? (await refusalToNumber(deps, chosen, wanted));
  if (refusal) return refusal;
  await deps.signer.check(numbering.numbered(unsigned, nobodysNonce(chosen)), wanted.signing);
  if (!isFresh(deps, prepared, shownFor_ms)) await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : numbering.numbered(unsigned, nonce);
}

/** Transactions mined during the preparation leave room for its nonce: others have queried since. */
function asSeenSince({ memory }: Pick<NumberedDeps, 'memory'>, { numbering, accounts }: Chosen): Chosen {
  const seen = memory.accounts.find(({ account }) => account === numbering.account);
  if (!seen || seen.minedNonce <= numbering.minedNonce) return { numbering, accounts };
  return { numbering: { ...numbering, minedNonce: seen.minedNonce }, accounts };
}

async function chosenFor(deps: NumberedDeps, { purpose }: NonceRequest, signal: AbortSignal): Promise<Chosen> {
  const accounts = await numberingAccountsOf(deps, signal);
  const numbering = numberingAccountFor(accounts, purpose.reference);
  assert(numbering !== undefined, 'a chain with nonces has an account that numbers transfers');
  return { numbering, accounts };
}

/**
 * The transfer under the purpose's own nonce, or under the account's next.
 *
 * The transfer is prepared and checked before the nonce is assigned: a nonce for a transfer that cannot be sent would block the account.
 * Between the nonce and the signature the chain is not queried about the transfer again.
 */
async function numbered(
  deps: NumberedDeps,
  wanted: Signing,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Unsigned | Refusal> {
  const chosen = await chosenFor(deps, wanted, signal);
  const refusal = await refusalToNumber(deps, chosen, wanted);
  if (refusal) return refusal;
  const prepared = await prepareFor(deps, order, chosen, wanted);
  await deps.stillFunded();
  const nonce = await takeNonce(deps, chosen, wanted);
  return isRefusal(nonce) ? nonce : deps.rail.numbering.numbered(prepared, nonce);
}

/** Returns its nonce if it cannot be built now. */
async function prepareFor(
  deps: NumberedDeps,
  order: TransferOrder,
  chosen: Chosen,
  wanted: Signing,
): Promise<Unsigned> {
  try {
    const prepared = await prepareUnder(deps, order, chosen, wanted);
    await deps.signer.check(prepared, wanted.signing);
    return prepared;
  } catch (error) {
    if (holdsUpOthers(error)) await releaseNonce(deps, chosen.numbering, wanted.purpose);
    throw error;
  }
}

/** The signer counts by nonce: an occupied nonce would hide its own amount. */
const nobodysNonce = ({ numbering: { minedNonce } }: Chosen): bigint => minedNonce + BigInt(outstandingMax);

async function prepareUnder(
  deps: NumberedDeps,
  order: TransferOrder,
  chosen: Chosen,
  wanted: NonceRequest,
): Promise<Unsigned> {
  const whole = { ...order, spokenFor: await spokenFor(deps, chosen, wanted) };
  return deps.rail.numbering.prepare(whole, nobodysNonce(chosen), undefined, chosen.numbering.account);
}

/** Without coin nothing can be sent at all, not even a cancel. */
const holdsUpOthers = (error: unknown): boolean =>
  error instanceof SigningRefused || (error instanceof PayoutBlocked && error.reason !== 'gas');

/** The same transfer with a higher fee. */
async function bump(deps: NumberedDeps, order: TransferOrder, replaced: SignedAttempt): Promise<Unsigned | Refusal> {
  assert(replaced.nonce !== null, 'an attempt on a chain with nonces has one');
  const objection = await objectionToSigning(deps, replaced.account);
  if (objection) return objection;
  if (await isCancelled(deps, replaced.account, BigInt(replaced.nonce)))
    return refuse('treasuryBusy', `nonce ${replaced.nonce} was given up: its cancel is on the way`);
  const unsigned = await deps.rail.numbering.prepare(order, BigInt(replaced.nonce), replaced, replaced.account);
  // The chain was queried meanwhile: payouts may have been paused.
  return (await objectionToSigning(deps, replaced.account)) ?? unsigned;
}

// Expiring transfers: the turn only decides whether the transfer may still be signed.

/** @returns the transaction to sign. An outdated preparation is repeated. */
async function expiringInTurn(
  deps: ExpiringDeps,
  {
    prepared,
    order,
    wanted,
  }: { readonly prepared: Prepared; readonly order: TransferOrder; readonly wanted: NonceRequest },
): Promise<Unsigned | Refusal> {
  if (isFresh(deps, prepared, preparedFor_ms)) {
    if (!isFresh(deps, prepared, shownFor_ms)) await deps.stillFunded();
    // Payouts may have been paused meanwhile.
    return (await refusalToSign(deps, wanted)) ?? prepared.unsigned;
  }
  const refusal = await refusalToSign(deps, wanted);
  if (refusal) return refusal;
  const unsigned = await prepareExpiring(deps, order, wanted);
  await deps.stillFunded();
  // The chain was queried meanwhile: payouts may have been paused.
  return (await refusalToSign(deps, wanted)) ?? unsigned;
}

/** An account without nonces is still opened and paused. */
async function refusalToSign(
  { handle, rail, clock }: Pick<ExpiringDeps, 'handle' | 'rail' | 'clock'>,
  { purpose }: NonceRequest,
): Promise<Refusal | undefined> {
  const { chainId, account } = rail;
  const allowed = await handle(
    treasury,
    treasuryInstance(chainId, account),
    (state) => allowTransfer(state, { chainId, account, now: clock.now() }),
    { cause: causeOf(purpose), appId: null },
  );
  return isRefusal(allowed) ? allowed : undefined;
}

async function prepareExpiring(
  { rail, memory, unsettled }: ExpiringDeps,
  order: TransferOrder,
  { purpose, moves }: NonceRequest,
): Promise<Unsigned> {
  // Before signed transfers are read: a transfer that is signed meanwhile counts twice rather than never.
  const others = memory.reserved.take(purpose.reference, moves.token, BigInt(moves.amount));
  const spokenFor = others + (await unsettled(order.token, purpose.reference));
  return rail.numbering.prepare({ ...order, spokenFor });
}

export interface SignDeps extends PrepareDeps, Pick<ExpiringDeps, 'unsettled'> {
  readonly rail: PayoutRail;
  readonly crash: CrashPoint;
  /** Called once an attempt is recorded, before its reservation is released. */
  readonly recorded?: () => void;
  /** Called after it waited for a nonce, before another preparation. */
  readonly waited?: (refusal: Refusal) => void;
  /** One at a time per treasury: between the assigned nonce and the recorded bytes nobody else gets the next one. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Maximum attempts to get a nonce. */
const turnsMost = 100;

/**
 * Signs the next attempt of a transfer and makes its owner append it. Sends nothing: only bytes read back from the stream are sent.
 *
 * The chain is queried before the turn, for many transfers concurrently; within the turn only the log is read.
 *
 * Crash after NonceAssigned: the restarted process finds the nonce by its purpose and continues. After signing, before the append: the
 * signature is lost, nobody has it, and it is made again. Two workers: both get the same nonce, one append succeeds, the stream's state
 * refuses the other.
 *
 * @throws PayoutBlocked, SigningRefused before any nonce is assigned, if float, gas, the token or the signer forbid it now
 */
export async function signTransfer(
  deps: SignDeps,
  owner: Pick<TransferOwner, 'sign'>,
  outgoing: Outgoing,
  signal: AbortSignal,
): AppendResult {
  const { leg, purpose } = outgoing;
  if (isSpent(leg)) return attemptsSpent(leg);
  const { rail, memory } = deps;
  try {
    return isNumbered(rail)
      ? await signNumbered({ ...deps, rail }, owner, outgoing, signal)
      : await signExpiring({ ...deps, rail }, owner, outgoing);
  } finally {
    memory.reserved.release(purpose.reference);
    memory.waiting.delete(purpose.reference);
  }
}

async function signNumbered(
  deps: SignDeps & NumberedDeps,
  owner: Pick<TransferOwner, 'sign'>,
  outgoing: Outgoing,
  signal: AbortSignal,
): AppendResult {
  const order = orderOf(outgoing);
  const wanted = { ...wantedBy(outgoing), signing: signingFor(outgoing) };
  const replaced = liveAttempts(outgoing.leg).at(-1);
  const prepared = replaced ? null : await prepareBefore(deps, wanted, order, signal);
  if (isRefusal(prepared)) return prepared;
  for (let turns = 1; ; turns += 1) {
    const outcome = await signInTurn(deps, owner, outgoing, () =>
      replaced ? bump(deps, order, replaced) : numberInTurn(deps, { prepared, order, wanted }, signal),
    );
    // Other transfers may have taken the nonces for which it waited.
    if (!isRefusal(outcome) || !prepared || turns === turnsMost) return outcome;
    if (!(await nonceComes(deps, { prepared, wanted, refusal: outcome }, signal))) return outcome;
    deps.waited?.(outcome);
  }
}

async function signExpiring(
  deps: SignDeps & ExpiringDeps,
  owner: Pick<TransferOwner, 'sign'>,
  outgoing: Outgoing,
): AppendResult {
  const isLive = liveAttempts(outgoing.leg).length > 0;
  assert(!isLive, 'only what shares a nonce can be replaced: of two others both might land');
  const order = orderOf(outgoing);
  const wanted = wantedBy(outgoing);
  const refusal = await refusalToSign(deps, wanted);
  if (refusal) return refusal;
  const prepared = await preparedBy(deps, () => prepareExpiring(deps, order, wanted));
  return signInTurn(deps, owner, outgoing, () => expiringInTurn(deps, { prepared, order, wanted }));
}

/**
 * The next transfer in the queue continues once this one has its nonce and a counted signature. It need not wait for the record: separate
 * streams record transfers. Without nonces the record is all that others can read of it.
 *
 * Crash at the first await after `unsigned`: the nonce is assigned. At the second: the same, because nobody has the signature.
 */
async function signInTurn(
  deps: SignDeps,
  owner: Pick<TransferOwner, 'sign'>,
  outgoing: Outgoing,
  number: () => Promise<Unsigned | Refusal>,
): AppendResult {
  const { key, leg } = outgoing;
  const signing = signingFor(outgoing);
  const record = async (attempt: SignedAttempt): AppendResult => {
    const outcome = await owner.sign(key, attempt);
    if (!isRefusal(outcome)) deps.recorded?.();
    return outcome;
  };
  const inTurn = await deps.inTurn(async () => {
    const unsigned = await number();
    if (isRefusal(unsigned)) return { outcome: unsigned };
    await deps.crash(`${signing.kind}.beforeSign`);
    const signed = await deps.signer.sign(unsigned, signing);
    await deps.crash(`${signing.kind}.afterSign`);
    const attempt = attemptOf(leg, unsigned, signed, deps.clock.now());
    return isNumbered(deps.rail) ? { attempt } : { outcome: await record(attempt) };
  });
  return 'outcome' in inTurn ? inTurn.outcome : await record(inTurn.attempt);
}

const orderOf = ({ order, leg }: Outgoing): TransferOrder => ({
  ...order,
  ...(leg.attempts.length > 0 && { earlier: leg.attempts.map(({ signed }) => signed.hash) }),
});

const signingFor = ({ purpose, appId }: Outgoing): SigningPurpose => ({
  ...purpose,
  ...(appId !== null && { appId }),
});

const wantedBy = ({ purpose, leg }: Outgoing): NonceRequest => ({
  purpose: { ...purpose, ordinal: noncesUsedUp(leg) + 1 },
  moves: { token: leg.order.token.address, amount: unitsText(floatTaken(leg.order)) },
});

/**
 * Returns why signing a transfer is useless now: its account was busy at its last read, and the maximum number of transfers wait for a
 * nonce. Queries nothing.
 */
export function mustWait(
  deps: Pick<SignDeps, 'clock' | 'memory'>,
  outgoing: Outgoing,
  lately_ms: number,
): Refusal | undefined {
  const others = deps.memory.waiting.size >= outstandingMax && wereSeen(deps, lately_ms);
  return others && liveAttempts(outgoing.leg).length === 0 ? busyAsSeen(deps, wantedBy(outgoing)) : undefined;
}

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
