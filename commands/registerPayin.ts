import { type Chain, type ChainId, chainOf } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import * as payins from '../domain/payment/payins.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import type { By, Handle } from './handle.ts';
import type { AddressBook, Clock } from './ports.ts';
import type { PaymentRef } from './recordPayin.ts';

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
  if (txHash === null) return refuse('invalidRequest', `this is no transaction hash of ${chain.name}`, '/txHash');
  const senderAddress = addresses.canonical(chain, hint.fromAddress);
  if (senderAddress === null) return refuse('invalidRequest', `this is no address of ${chain.name}`, '/fromAddress');
  return { txHash, senderAddress };
}
