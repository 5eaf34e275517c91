/** Facts for the payment page. From the log, so they are current while read models are stopped. */
import type { ChainId } from '../domain/chains.ts';
import { isChoiceOpen } from '../domain/payment/choose.ts';
import type { PaymentEvent } from '../domain/payment/events.ts';
import { fundable } from '../domain/payment/fundedRefund.ts';
import { type OwnMoney, ownersOf, provenReceiver } from '../domain/payment/refundOrder.ts';
import { type Situation, situationOf } from '../domain/payment/situation.ts';
import { type Payment, type PaymentState, paymentDecider } from '../domain/payment/state.ts';
import { type PaymentTransaction, transactionsOf } from '../domain/payment/transactions.ts';
import { type PaymentView, viewOf } from '../domain/payment/view.ts';
import type { Instant } from '../domain/time.ts';
import { headsOf } from './operations.ts';
import type { GetPaymentDeps } from './payments.ts';

export interface PayerFacts {
  readonly payment: PaymentView;
  readonly situation: Situation;
  /** True if its payer may choose a source now. */
  readonly choiceOpen: boolean;
  /** Owners of held money, and the refund address of each. */
  readonly owners: readonly OwnMoney[];
  /** Senders of money that was paid out: the app can refund it with new money once they have signed an address. */
  readonly refundable?: readonly OwnMoney[];
  /** In both directions, oldest first. */
  readonly transactions: readonly PaymentTransaction[];
  /** Changes with every change of these facts. */
  readonly version: string;
  /** Time of the facts, by the service's clock. */
  readonly now: Instant;
}

export interface PayerFactsDeps extends GetPaymentDeps {
  /** Blocks on top that make a payin of this amount final; null if the chain itself reports finality. */
  readonly confirmationsNeeded: (chainId: ChainId, amount: string | null) => number | null;
}

/** Null if there is no such payment. @throws Unavailable */
export async function payerFacts(deps: PayerFactsDeps, paymentId: string, now: Instant): Promise<PayerFacts | null> {
  const [events, heads] = await Promise.all([deps.history(`payment-${paymentId}`), headsOf(deps.sql)]);
  const payment = events.reduce<PaymentState>((state, stored) => {
    const event = deps.read(stored) as PaymentEvent | undefined;
    return event ? paymentDecider.evolve(state, event) : state;
  }, paymentDecider.initial);
  const last = events.at(-1);
  if (!payment || !last) return null;
  const view = viewOf(payment, last.metadata.at);
  const { sourceChainId, amountReceived, sourceAmount } = view;
  const chain = {
    head: heads.get(sourceChainId) ?? null,
    needed: deps.confirmationsNeeded(sourceChainId, sourceAmount ?? amountReceived),
  };
  const situation = situationOf(payment, now, chain);
  const version = [events.length, situation.kind, situation.depth?.confirmations ?? ''].join(' ');
  const choiceOpen = isChoiceOpen(payment, now);
  const owners = ownersOf(payment);
  const refundable = payersOf(payment);
  return {
    payment: view,
    situation,
    choiceOpen,
    owners,
    refundable,
    transactions: transactionsOf(payment),
    version,
    now,
  };
}

const payersOf = (payment: Payment): readonly OwnMoney[] =>
  fundable(payment).map(({ sender, transferId, chainId, token, amount }) => ({
    ...{ sender, transferId, chainId, tokenAddress: token.address, amount },
    receiver: provenReceiver(payment, { chainId }, sender, [], null)?.receiver ?? null,
  }));
