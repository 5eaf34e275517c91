/** A transfer's attempts are signed and recorded. How they are sent, and what becomes of them: the worker of transfers. */
import { assert, isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { unitsText } from '../../domain/money.ts';
import type { Instant } from '../../domain/time.ts';
import { floatTaken } from '../../domain/transfer/form.ts';
import { isSpent, liveAttempts, noncesUsedUp, type TransferLeg } from '../../domain/transfer/leg.ts';
import { attemptsSpent } from '../../domain/transfer/rules.ts';
import type { SignedAttempt } from '../../domain/transfer/shapes.ts';
import type { CrashPoint } from '../ports.ts';
import { isCancelled } from './cancels.ts';
import { objectionToSigning, type Wanted, wasBusy } from './numberingAccounts.ts';
import type { Outgoing, Recorded, TransferOwner } from './outgoing.ts';
import type { SigningPurpose, TransferOrder, Unsigned } from './ports.ts';
import { numberInTurn, type PrepareDeps, prepareBefore } from './prepare.ts';

export interface SignDeps extends PrepareDeps {
  readonly crash: CrashPoint;
  /** Told once an attempt is recorded, before what was reserved for it is released. */
  readonly recorded?: () => void;
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
    return await deps.inTurn(async () => {
      const unsigned = replaced
        ? await bump(deps, order, replaced)
        : await numberInTurn(deps, { prepared, order, wanted }, signal);
      if (isRefusal(unsigned)) return unsigned;
      await deps.crash(`${signing.kind}.beforeSign`);
      const signed = await deps.signer.sign(unsigned, signing);
      await deps.crash(`${signing.kind}.afterSign`);
      const outcome = await owner.sign(key, attemptOf(leg, unsigned, signed, deps.clock.now()));
      if (!isRefusal(outcome)) deps.recorded?.();
      return outcome;
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

const wantedBy = ({ purpose, leg }: Outgoing): Wanted => ({
  purpose: { ...purpose, ordinal: noncesUsedUp(leg) + 1 },
  moves: { token: leg.order.token.address, amount: unitsText(floatTaken(leg.order)) },
});

/** Whether it is of no use to sign a transfer now: its account was seen busy, no longer ago than that. Asks nobody. */
export const mustWait = (deps: Pick<SignDeps, 'clock' | 'memory'>, outgoing: Outgoing, lately_ms: number): boolean =>
  liveAttempts(outgoing.leg).length === 0 && wasBusy(deps, wantedBy(outgoing), lately_ms);

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
