/** A transfer's attempts are signed and recorded. How they are sent, and what becomes of them: the worker of transfers. */

import type { Outgoing, Recorded, TransferOwner } from '../../../commands/outgoing.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import type { SigningPurpose, TransferOrder, Unsigned } from '../../../commands/transferPorts.ts';
import { assert, isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { unitsText } from '../../../domain/money.ts';
import type { Instant } from '../../../domain/time.ts';
import { floatTaken } from '../../../domain/transfer/form.ts';
import { isSpent, liveAttempts, noncesUsedUp, type TransferLeg } from '../../../domain/transfer/leg.ts';
import { attemptsSpent } from '../../../domain/transfer/rules.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { outstandingMax } from '../../../domain/treasury/state.ts';
import { isCancelled } from './cancels.ts';
import { busyAsSeen, objectionToSigning, type Wanted, wereSeen } from './numberingAccounts.ts';
import { nonceComes, numberInTurn, type PrepareDeps, prepareBefore } from './prepare.ts';

export interface SignDeps extends PrepareDeps {
  readonly crash: CrashPoint;
  /** Told once an attempt is recorded, before what was reserved for it is released. */
  readonly recorded?: () => void;
  /** Told that it waited for a nonce, after which it was prepared. */
  readonly waited?: (refusal: Refusal) => void;
  /** One at a time per treasury: between a nonce taken and its bytes recorded nobody else takes the next. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Who waits for a nonce tries so often at most. */
const turnsMost = 100;

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
  const { leg, purpose } = outgoing;
  if (isSpent(leg)) return attemptsSpent(leg);
  const order = orderOf(outgoing);
  const wanted = { ...wantedBy(outgoing), signing: signingFor(outgoing) };
  const replaced = liveAttempts(leg).at(-1);
  const { reserved, waiting } = deps.memory;
  try {
    const prepared = replaced ? null : await prepareBefore(deps, wanted, order, signal);
    if (isRefusal(prepared)) return prepared;
    for (let turns = 1; ; turns += 1) {
      const outcome = await signInTurn(deps, owner, outgoing, () =>
        replaced ? bump(deps, order, replaced) : numberInTurn(deps, { prepared, order, wanted }, signal),
      );
      // Others may have taken the nonces for which it waited.
      if (!isRefusal(outcome) || !prepared?.chosen || turns === turnsMost) return outcome;
      if (!(await nonceComes(deps, { prepared, wanted, refusal: outcome }, signal))) return outcome;
      deps.waited?.(outcome);
    }
  } finally {
    reserved.release(purpose.reference);
    waiting.delete(purpose.reference);
  }
}

/**
 * The next in turn has this one's nonce behind it and its signature counted. That it is recorded he need not await: streams of their own
 * record transfers. Without nonces what is recorded is all that others see of it.
 *
 * Crash at the first await after `unsigned`: the nonce is taken. At the second: the same, for nobody has the signature.
 */
async function signInTurn(
  deps: SignDeps,
  owner: Pick<TransferOwner, 'sign'>,
  outgoing: Outgoing,
  number: () => Promise<Unsigned | Refusal>,
): Recorded {
  const { key, leg } = outgoing;
  const signing = signingFor(outgoing);
  const record = async (attempt: SignedAttempt): Recorded => {
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
    return unsigned.nonce === null ? { outcome: await record(attempt) } : { attempt };
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

const wantedBy = ({ purpose, leg }: Outgoing): Wanted => ({
  purpose: { ...purpose, ordinal: noncesUsedUp(leg) + 1 },
  moves: { token: leg.order.token.address, amount: unitsText(floatTaken(leg.order)) },
});

/**
 * Why it is of no use to sign a transfer now: its account was seen busy, no longer ago than that, and as many as can have a nonce wait for
 * one. Asks nobody.
 */
export function mustWait(
  deps: Pick<SignDeps, 'clock' | 'memory'>,
  outgoing: Outgoing,
  lately_ms: number,
): Refusal | undefined {
  const others = deps.memory.waiting.size >= outstandingMax && wereSeen(deps, lately_ms);
  return others && liveAttempts(outgoing.leg).length === 0 ? busyAsSeen(deps, wantedBy(outgoing)) : undefined;
}

/** The same transfer with a higher fee. */
async function bump(deps: PrepareDeps, order: TransferOrder, replaced: SignedAttempt): Promise<Unsigned | Refusal> {
  assert(replaced.nonce !== null, 'only what shares a nonce can be replaced: of two others both might land');
  const objection = await objectionToSigning(deps, replaced.account);
  if (objection) return objection;
  if (await isCancelled(deps, replaced.account, BigInt(replaced.nonce)))
    return refuse('treasuryBusy', `nonce ${replaced.nonce} was given up: its cancel is on the way`);
  const unsigned = await deps.rail.prepare(order, BigInt(replaced.nonce), replaced, replaced.account);
  // The chain was asked meanwhile: payouts may have been paused.
  return (await objectionToSigning(deps, replaced.account)) ?? unsigned;
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
