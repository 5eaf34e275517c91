/** The payer's choice of a source: discloses the deposit of that chain's family, and only then. */
import { type Chain, chainOf, type Token } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import * as choice from '../domain/payment/choose.ts';
import type { Deposit } from '../domain/payment/events.ts';
import { familyOf, type Source } from '../domain/payment/sources.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { type By, currentState, type Handle } from './handle.ts';
import { type Clock, type CrashPoint, type DepositScheme, refuseUnavailable, Unavailable } from './ports.ts';

export interface ChooseSourceDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly deposits: Partial<Record<Chain['family'], DepositScheme>>;
  /** True if this installation still serves the chain. */
  readonly offers: (chain: Chain) => boolean;
  readonly crash?: CrashPoint;
}

/** A source of the payment, in the payment page's spelling. */
export interface ChosenSource {
  readonly chainId: number;
  readonly tokenSymbol: string;
}

/**
 * Allowed to anyone with the payment's link.
 *
 * An address is assigned only if the payment has none of that family. Of two concurrent choices, the second uses the address that the first
 * disclosed. After a crash between assigning and the append, the address stays unused at no cost, and the next choice assigns another.
 * @param derived deposit that was derived from the payment and already named to the payer. Default: assigns one
 */
export async function chooseSource(
  deps: ChooseSourceDeps,
  paymentId: string,
  { chainId, tokenSymbol }: ChosenSource,
  by: By,
  derived?: Deposit,
): Promise<Payment | Refusal> {
  const payment = await currentState(deps.handle, paymentDecider, paymentId);
  const source = payment?.sources.find((each) => each.chainId === chainId && each.token.symbol === tokenSymbol);
  if (!payment || !source) return notChoosable;
  const { token } = source;
  const chosen = { chainId: source.chainId, tokenAddress: token.address };
  const deposit = await depositFor(deps, payment, source, derived);
  if (isRefusal(deposit)) return deposit;
  await deps.crash?.('choice.afterDeposit');
  const decide = (state: PaymentState) => choice.chooseSource(state, { ...chosen, deposit, now: deps.clock.now() });
  const handled = await deps.handle(paymentDecider, paymentId, decide, { ...by, appId: payment.terms.appId });
  if (isRefusal(handled)) return handled;
  assert(handled.state !== null, 'a payment that was chosen for exists');
  return handled.state;
}

const notChoosable = refuse(
  'invalidRequest',
  'this payment cannot be paid from there: choose another source',
  '/source',
);

/** Null if none is needed: the payment has one of the family, or would refuse the choice. */
async function depositFor(
  { deposits, offers, clock }: ChooseSourceDeps,
  payment: Payment,
  source: Source,
  derived: Deposit | undefined,
): Promise<Deposit | null | Refusal> {
  const chain = chainOf(source.chainId);
  const family = familyOf(source);
  if (payment.deposits[family] || !choice.isChoiceOpen(payment, clock.now())) return null;
  const scheme = deposits[family];
  if (!scheme || !offers(chain))
    return refuse('unavailable', `${chain.name} is not served at present: choose another source`);
  if (derived) return derived;
  try {
    return await scheme.assign(payment.terms.paymentId, source.token as Token, null);
  } catch (error) {
    if (error instanceof Unavailable) return refuseUnavailable(error);
    throw error;
  }
}
