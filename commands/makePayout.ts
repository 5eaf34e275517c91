/** A payout's steps: ordered, signed, settled or proven dead, and unsettled when its block left the chain. */
import { assert, isRefusal, type Refusal } from '../domain/decider.ts';
import { unitsText } from '../domain/money.ts';
import type { SignedAttempt } from '../domain/payment/events.ts';
import * as payout from '../domain/payment/payout.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { liveAttempts, noncesUsedUp, type TransferLeg } from '../domain/payment/transfer.ts';
import type { Instant } from '../domain/time.ts';
import { allowTransfer, outstandingMax, type Purpose, treasury, treasuryInstance } from '../domain/treasury.ts';
import {
  type Fate,
  type NumberingAccount,
  PayoutBlocked,
  type PayoutRail,
  type Signer,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from './chainPorts.ts';
import type { Handle, Handled } from './handle.ts';
import { numberingAccountFor, numberingAccountsOf, releaseNonce, takeNonce } from './numberingAccounts.ts';
import type { Clock, CrashPoint } from './ports.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

export interface SignDeps extends Deps {
  readonly rail: PayoutRail;
  readonly signer: Signer;
  readonly crash: CrashPoint;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/** Orders the payout of a funded payment; `[]` when it is ordered. */
export const requestPayout = ({ handle, clock }: Deps, { terms }: Payment): Outcome =>
  handle(paymentDecider, terms.paymentId, (state) => payout.requestPayout(state, clock.now()), {
    cause: 'worker:payouts',
    appId: terms.appId,
  });

/**
 * Signs the next attempt of a payment's payout and appends it. Nothing is sent here: only bytes read back from the
 * stream are.
 *
 * Crash after NonceAssigned: the restart finds the nonce by its purpose and goes on with it. After signing, before the
 * append: the signature is lost, nobody has it, and it is made again. Two workers: both get the same nonce, one append
 * of PayoutSigned succeeds, the other is refused by the stream's state.
 *
 * @throws PayoutBlocked, SigningRefused before any nonce is taken, when float, gas, the token or the signer forbid it now
 */
export async function signPayout(deps: SignDeps, payment: Payment, signal: AbortSignal): Outcome {
  const leg = payment.payout;
  assert(leg !== null, 'a payout is signed after it was requested');
  const order = { ...leg.order, reference: payment.terms.paymentId };
  const replaced = liveAttempts(leg).at(-1);
  assert(replaced?.nonce !== null, 'only what shares a nonce can be replaced: of two others both might land');
  const unsigned = replaced
    ? await deps.rail.prepare(order, nonceIn(replaced), replaced, replaced.account)
    : await numbered(deps, payment, leg, order, signal);
  if (isRefusal(unsigned)) return unsigned;
  await deps.crash('payout.beforeSign');
  const signed = await deps.signer.sign(unsigned, { kind: 'payout', reference: payment.terms.paymentId });
  await deps.crash('payout.afterSign');
  const attempt = attemptOf(leg, unsigned, signed, deps.clock.now());
  return deps.handle(paymentDecider, payment.terms.paymentId, (state) => payout.signPayout(state, attempt), {
    cause: 'worker:payouts',
    appId: payment.terms.appId,
  });
}

const nonceIn = ({ nonce }: SignedAttempt): bigint | null => (nonce === null ? null : BigInt(nonce));

/**
 * The transfer under the purpose's own nonce, or under the account's next.
 *
 * The transfer is prepared and checked before the nonce is taken: a nonce taken for what cannot be sent would block the account.
 * Between the nonce and the signature the chain is not asked about the transfer again.
 */
async function numbered(
  deps: SignDeps,
  { terms: { paymentId } }: Payment,
  leg: TransferLeg,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Unsigned | Refusal> {
  const accounts = await numberingAccountsOf(deps, signal);
  const numbering = numberingAccountFor(accounts, paymentId);
  if (!numbering) return withoutNonce(deps, order, paymentId);
  const purpose: Purpose = { kind: 'payout', reference: paymentId, ordinal: noncesUsedUp(leg) + 1 };
  const prepared = await prepareFor(deps, order, numbering, purpose);
  const nonce = await takeNonce(deps, { numbering, accounts }, purpose);
  return isRefusal(nonce) ? nonce : deps.rail.numbered(prepared, nonce);
}

/** Prepared under a nonce that nobody can hold: the signer counts by nonce, and an outstanding one would hide its own amount. */
async function prepareFor(
  deps: SignDeps,
  order: TransferOrder,
  numbering: NumberingAccount,
  purpose: Purpose,
): Promise<Unsigned> {
  const { rail, signer } = deps;
  const { account, minedNonce } = numbering;
  try {
    const prepared = await rail.prepare(order, minedNonce + BigInt(outstandingMax), undefined, account);
    signer.check(prepared, { kind: 'payout', reference: purpose.reference });
    return prepared;
  } catch (error) {
    if (holdsUpOthers(error)) await releaseNonce(deps, numbering, purpose);
    throw error;
  }
}

/** An account without nonces is opened and paused all the same. */
async function withoutNonce(
  { handle, rail, clock }: SignDeps,
  order: TransferOrder,
  paymentId: string,
): Promise<Unsigned | Refusal> {
  const { chainId, account } = rail;
  const handled = await handle(
    treasury,
    treasuryInstance(chainId, account),
    (state) => allowTransfer(state, { chainId, account, now: clock.now() }),
    { cause: `worker:payouts ${paymentId}`, appId: null },
  );
  return isRefusal(handled) ? handled : rail.prepare(order, null, undefined, account);
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

/** Records what the destination chain proves about the payout's attempts. */
export function settlePayout(
  { handle, clock }: Deps,
  { terms }: Payment,
  fate: Extract<Fate, { kind: 'final' | 'dead' }>,
): Outcome {
  const decide = (state: PaymentState) => {
    if (fate.kind === 'dead') return payout.buryPayout(state, fate.attempts, fate.proof);
    const { attempt, hash, blockHash } = fate;
    const blockNumber = fate.blockNumber.toString();
    return payout.confirmPayout(state, { attempt, hash, blockHash, blockNumber, confirmedAt: clock.now() });
  };
  return handle(paymentDecider, terms.paymentId, decide, { cause: `worker:payouts ${fate.kind}`, appId: terms.appId });
}

/** Records that a settled payout's block left the chain: the recorded bytes are sent again. */
export const unsettlePayout = (
  { handle }: Pick<Deps, 'handle'>,
  { terms }: Payment,
  seen: { hash: string; blockHash: string },
): Outcome =>
  handle(paymentDecider, terms.paymentId, (state) => payout.orphanPayout(state, seen), {
    cause: `worker:payouts orphaned ${seen.blockHash}`,
    appId: terms.appId,
  });
