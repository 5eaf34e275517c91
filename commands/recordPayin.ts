/** What a payment's source chain shows: that money came, that it left again, that the time to pay is over. */

import { type Chain, type ChainId, chainOf } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { expire } from '../domain/payment/close.ts';
import { type Transfer, transferId } from '../domain/payment/events.ts';
import * as payins from '../domain/payment/payins.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { see, unmatched } from '../domain/unmatched.ts';
import type { By, Handle, Handled } from './handle.ts';
import type { AddressBook, Clock } from './ports.ts';

// Money that no payment takes up is kept by itself, once, until an operator decides about it.

/** The payment to whose deposit it came. */
interface DepositOf {
  readonly paymentId: string;
  readonly appId: string;
}

/**
 * Keeps a final transfer that bears no payment's memo, or whose payment takes up no more, however often it is seen. Each has a stream of
 * its own, so that no number of them makes any stream longer.
 *
 * @param full the payment that it was paid to; null where its address and memo are no payment's
 * @returns whether it is new
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

/** The payment that a deposit belongs to. */
export interface PaymentRef {
  readonly paymentId: string;
  readonly appId: string;
}

type Outcome = Promise<Handled<PaymentState> | Refusal>;

/**
 * Records a transfer to a deposit, or one that an operator gave to the payment. What the payment takes up no more is kept by itself once it is final. Repeating it changes nothing, so
 * a crash before or after an append costs only the repetition: the scan's cursor moves after this.
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

/** Whether the payment's stream holds the transfer. */
export const takenUp = (payment: PaymentState, transfer: Transfer): boolean =>
  payment?.payins.some(({ id }) => id === transferId(transfer)) ?? false;

/** Records that the block which held a payin has left its chain. */
export function recordOrphan(
  { handle }: Deps,
  { paymentId, appId }: PaymentRef,
  seen: { readonly transferId: string; readonly blockHash: string },
): Outcome {
  const cause = `worker:payins orphaned ${seen.blockHash}` as const;
  return handle(paymentDecider, paymentId, (state) => payins.orphanPayin(state, seen), { cause, appId });
}

/** @param scanned how far the final scan of each chain has come that the payment can be paid on, in the chain's own time */
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
  readonly addresses: AddressBook;
  /** A transaction's identity as its chain spells it; null when the text is none. */
  readonly canonicalTxHash: (chain: Chain, text: string) => string | null;
  /** Starts to look for the transaction at once and does not wait for it. Losing that loses nothing: the scan finds the payin too. */
  readonly lookUp: (payment: Payment, txHash: string) => void;
}

/** The merchant's hint where to look for the payin, as the caller spelled it. */
export interface PayinHint {
  readonly txHash: string;
  readonly fromAddress: string;
}

export interface RegisteredPayin {
  readonly payment: Payment;
  /** When it last changed. */
  readonly at: Instant;
}

/**
 * Records where the payin is to be looked for, and looks there.
 *
 * @param own the payment and its app: of another app's payment nothing is told, not even that it exists
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

/** As the first of the chains spells it; the refusal is the first chain's. */
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
