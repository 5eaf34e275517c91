/** Records observations of a payment's source chain: a transfer, an orphaned transfer, the end of the payment's time. */

import { type Chain, type ChainId, chainOf } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { expire } from '../domain/payment/close.ts';
import { type Transfer, transferId } from '../domain/payment/events.ts';
import * as payins from '../domain/payment/payins.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { see, unmatched } from '../domain/unmatched.ts';
import type { By, Handle, Handled } from './handle.ts';
import type { AddressSpelling, Clock } from './ports.ts';

// Unmatched money is recorded once, in a stream of its own, until an operator decides.

/** Payment of the deposit. */
interface DepositOf {
  readonly paymentId: string;
  readonly appId: string;
}

/**
 * Records a final transfer without a payment's memo, or beyond its payment's maximum; repeats change nothing. Each has its own stream, so
 * no number of them makes a stream longer.
 *
 * @param full the payment that it was paid to; null if address and memo belong to no payment
 * @returns true if it is new
 */
export async function recordUnmatched(
  { handle, clock }: { readonly handle: Handle; readonly clock: Pick<Clock, 'now'> },
  transfer: Transfer,
  full: DepositOf | null = null,
): Promise<boolean> {
  const seen = await handle(unmatched, transferId(transfer), (state) => see(state, transfer, clock.now(), full), {
    cause: `worker:payins payin ${transfer.chainId}:${transfer.txHash}`,
    appId: full?.appId ?? null,
    expectNew: true,
  });
  assert(!isRefusal(seen), 'a transfer that was seen is never refused');
  return seen.appended > 0;
}

interface Deps {
  readonly handle: Handle;
  readonly clock: Clock;
}

/** Payment of a deposit. */
export interface PaymentRef {
  readonly paymentId: string;
  readonly appId: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/**
 * Records a transfer to a deposit, or one that an operator assigned to the payment. A final transfer beyond the payment's maximum becomes
 * unmatched money. Repeating it changes nothing, so a crash costs only the repetition: the scan's cursor moves afterwards.
 */
export async function recordPayin(
  { handle, clock }: Deps,
  payment: PaymentRef,
  seen: { readonly transfer: Transfer; readonly final: boolean; readonly assigned?: boolean },
): Outcome {
  const { paymentId, appId } = payment;
  const cause = `worker:payins payin ${seen.transfer.chainId}:${seen.transfer.txHash}` as const;
  const decide = (state: PaymentState) => payins.recordPayin(state, { ...seen, now: clock.now() });
  const recorded = await handle(paymentDecider, paymentId, decide, { cause, appId });
  if (isRefusal(recorded) || !seen.final || takenUp(recorded.state, seen.transfer)) return recorded;
  const isNew = await recordUnmatched({ handle, clock }, seen.transfer, payment);
  return { ...recorded, appended: isNew ? 1 : 0 };
}

/** True if the payment's stream holds the transfer. */
export const takenUp = (payment: PaymentState, transfer: Transfer): boolean =>
  payment?.payins.some(({ id }) => id === transferId(transfer)) ?? false;

/** Records that a payin's block has left its chain. */
export function recordOrphan(
  { handle }: Deps,
  { paymentId, appId }: PaymentRef,
  seen: { readonly transferId: string; readonly blockHash: string },
): Outcome {
  const cause = `worker:payins orphaned ${seen.blockHash}` as const;
  return handle(paymentDecider, paymentId, (state) => payins.orphanPayin(state, seen), { cause, appId });
}

/** @param scanned chain time up to which the final scan has read each chain that can pay the payment */
export function expirePayment(
  { handle, clock }: Deps,
  { paymentId, appId }: PaymentRef,
  scanned: ReadonlyMap<ChainId, Instant | null>,
): Outcome {
  const reached = [...scanned.values()].map(String).sort()[0];
  const cause = `worker:expiry final scan reached ${reached}` as const;
  const scannedTo = (chainId: ChainId): Instant | null => scanned.get(chainId) ?? null;
  return handle(paymentDecider, paymentId, (state) => expire(state, { scannedTo, now: clock.now() }), { cause, appId });
}

export interface RegisterPayinDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly addresses: AddressSpelling;
  /** A transaction hash in its chain's spelling; null for any other text. */
  readonly canonicalTxHash: (chain: Chain, text: string) => string | null;
  /** Starts a look-up of the transaction without waiting for it. A lost look-up is harmless: the scan finds the payin too. */
  readonly lookUp: (payment: Payment, txHash: string) => void;
}

/** The merchant's hint about the payin, in the caller's spelling. */
export interface PayinHint {
  readonly txHash: string;
  readonly fromAddress: string;
}

export interface RegisteredPayin {
  readonly payment: Payment;
  /** Time of its last change. */
  readonly at: Instant;
}

/**
 * Records a hint about the payin, and looks it up.
 *
 * @param own the payment and its app: for another app's payment the answer does not reveal that it exists
 */
export async function registerPayin(
  deps: RegisterPayinDeps,
  own: PaymentRef,
  hint: PayinHint,
  by: By,
): Promise<RegisteredPayin | Refusal> {
  const decide = (state: PaymentState) => {
    if (state?.terms.appId !== own.appId) return noPayment;
    const read = readHintOf(deps, payins.payableChainsOf(state), hint);
    return isRefusal(read) ? read : payins.registerPayin(state, { ...read, now: deps.clock.now() });
  };
  const handled = await deps.handle(paymentDecider, own.paymentId, decide, { ...by, appId: own.appId });
  if (isRefusal(handled)) return handled;
  const { state: payment, at } = handled;
  assert(payment !== null && at !== null, 'a payin is registered with a payment that exists');
  if (payment.registered) deps.lookUp(payment, payment.registered.txHash);
  return { payment, at };
}

const noPayment = refuse('paymentNotFound', 'no payment has this id: check it against the create response', '/id');

/** In the spelling of the first matching chain; a refusal is the first chain's. */
function readHintOf(deps: RegisterPayinDeps, [own, ...others]: readonly [ChainId, ...ChainId[]], hint: PayinHint) {
  const first = readHint(deps, chainOf(own), hint);
  if (!isRefusal(first)) return first;
  for (const chainId of others) {
    const read = readHint(deps, chainOf(chainId), hint);
    if (!isRefusal(read)) return read;
  }
  return first;
}

function readHint(
  { addresses, canonicalTxHash }: RegisterPayinDeps,
  chain: Chain,
  hint: PayinHint,
): { readonly txHash: string; readonly senderAddress: string } | Refusal {
  const txHash = canonicalTxHash(chain, hint.txHash);
  if (txHash === null) return refuse('invalidRequest', `this is not a transaction hash of ${chain.name}`, '/txHash');
  const senderAddress = addresses.canonical(chain, hint.fromAddress);
  if (senderAddress === null)
    return refuse('invalidRequest', `this is not an address of ${chain.name}`, '/fromAddress');
  return { txHash, senderAddress };
}
