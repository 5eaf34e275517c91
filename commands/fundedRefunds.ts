/** Refunds that an app funds by a payment of its own, and refund addresses that its people confirm. */
import { type ChainId, chainOf, memoProblem, type TokenSymbol } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { formatAmount, parseAmount } from '../domain/money.ts';
import { holdAll } from '../domain/payment/amountPolicy.ts';
import {
  endFundedRefund,
  type FundedRefund,
  fundable,
  fundingOutcome,
  givenUpAfter_ms,
  openFundedRefund,
  orderFundedRefund,
} from '../domain/payment/fundedRefund.ts';
import {
  type ConfirmedAddress,
  confirmedFor,
  confirmRefundAddress,
  withdrawRefundAddress,
} from '../domain/payment/refundAddress.ts';
import { type KnownSigner, provenReceiver } from '../domain/payment/refundOrder.ts';
import type { Payment, PaymentState } from '../domain/payment/state.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { type Instant, plus } from '../domain/time.ts';
import { serializeByKey } from '../src/lib/concurrency.ts';
import type { CreatedPayment, Creator, NewPayment, Refunding } from './createPayment.ts';
import type { RoleCheck } from './handle.ts';
import { type By, currentState, type Handle } from './handle.ts';
import { refundPaymentIdOf } from './paymentId.ts';
import type { AppSettings } from './paymentRequest.ts';
import type { AddressSpelling, Clock } from './ports.ts';
import { paymentUnknown } from './refunds.ts';

type Create = (
  request: NewPayment,
  app: AppSettings,
  caller: Creator,
  refunding: Refunding,
) => Promise<CreatedPayment | Refusal>;

export interface FundedRefundsDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly roleCheck: RoleCheck;
  readonly addresses: AddressSpelling;
  readonly createPayment: Create;
  /** Refuses a payment that could not be created now, and writes nothing. */
  readonly checkPayment: (request: NewPayment, app: AppSettings) => Promise<Refusal | undefined>;
  /** Senders who have paid by credit. */
  readonly signers: (payment: Payment) => Promise<readonly KnownSigner[]>;
  /** Delay of a confirmed address. */
  readonly confirmDelay_ms: number;
}

export interface AskedFundedRefund {
  /** Account that paid. */
  readonly sender: string;
  /** Decimal text in whole tokens: what the sender gets. */
  readonly amount: string;
  readonly note: string | null;
  /** Idempotency key. */
  readonly key: string;
}

export interface AskedConfirmation {
  /** A transfer of the sender, whose chain the address is on. */
  readonly transferId: string;
  readonly address: string;
  readonly memo: string | null;
}

/** Each refuses a person whose role in the app's team does not allow it. */
export interface FundedRefunds {
  /**
   * The payment's stream orders, then the funding payment is created under an id that follows from the order. Crash between the two: a
   * repeated request creates it; after ten minutes the refund ends without it.
   */
  order(app: AppSettings, paymentId: string, asked: AskedFundedRefund, by: By): Promise<FundedRefund | Refusal>;
  confirmAddress(appId: string, paymentId: string, asked: AskedConfirmation, by: By): Promise<Payment | Refusal>;
  /** Refused like the confirmation; writes nothing. */
  checkAddress(appId: string, paymentId: string, asked: AskedConfirmation, by: By): Promise<Payment | Refusal>;
  withdrawAddress(appId: string, paymentId: string, number: number, by: By): Promise<Payment | Refusal>;
  /** Null if the app has no such payment. */
  facts(appId: string, paymentId: string): Promise<FundedRefundFacts | null>;
}

/** A sender of a payment, and where their money may go back to. */
export interface PayerOfRefund {
  readonly sender: string;
  /** The sender's first transfer on the chain. */
  readonly transferId: string;
  readonly chainId: ChainId;
  readonly tokenSymbol: TokenSymbol;
  /** Part of the paid out money that can be refunded with new money, in whole tokens; null for none. */
  readonly fundable: string | null;
  /** Address that refunds go to now; null if nobody has proven or confirmed one. */
  readonly receiver: string | null;
  /** The app's own confirmation, also during its delay. */
  readonly confirmed: ConfirmedAddress | null;
}

export interface FundedRefundFacts {
  readonly payers: readonly PayerOfRefund[];
  readonly refunds: readonly FundedRefund[];
  readonly now: Instant;
}

export function createFundedRefunds(deps: FundedRefundsDeps): FundedRefunds {
  const { handle, clock, roleCheck } = deps;
  const oneByOne = serializeByKey();

  async function paymentOf(appId: string, paymentId: string): Promise<Payment | Refusal> {
    const payment = await currentState(handle, paymentDecider, paymentId);
    return payment?.terms.appId === appId ? payment : paymentUnknown;
  }

  async function order(app: AppSettings, paymentId: string, asked: AskedFundedRefund, by: By) {
    const { appId, idSalt } = app;
    const payment = (await roleCheck(appId, by, 'fundRefund')) ?? (await paymentOf(appId, paymentId));
    if (isRefusal(payment)) return payment;
    const amount = parseAmount(asked.amount, payment.terms.source.token.decimals);
    if (typeof amount === 'string') return refuse('invalidRequest', amount, '/amount');
    const { sender, note, key } = asked;
    const fundingIdOf = (refund: number) => refundPaymentIdOf(idSalt, paymentId, refund);
    const wanted = { sender, amount, note, key, fundingIdOf, signers: await deps.signers(payment) };
    const decide = (state: PaymentState) => orderFundedRefund(state, wanted, clock.now());
    const decided = decide(payment);
    if (isRefusal(decided)) return decided;
    const [first] = decided;
    if (first?.type === 'FundedRefundOrdered') {
      const planned = { ...first.data, amount, ended: null };
      const unfit = await deps.checkPayment(requestOf(payment, planned), settingsOf(app, planned));
      if (unfit) return { ...unfit, ...(unfit.pointer?.endsWith('/amount') && { pointer: '/amount' }) };
    }
    const handled = await handle(paymentDecider, paymentId, decide, { ...by, appId });
    if (isRefusal(handled)) return handled;
    const refund = handled.state?.fundedRefunds.find(({ requestKey }) => requestKey === key);
    assert(handled.state !== null && refund !== undefined, 'an ordered refund is in its payment');
    return refund.ended === null ? fund(app, handled.state, refund, by) : refund;
  }

  async function fund(
    app: AppSettings,
    payment: Payment,
    refund: FundedRefund,
    by: By,
  ): Promise<FundedRefund | Refusal> {
    const refunding: Refunding = {
      paymentId: refund.fundingPaymentId,
      refundOf: { paymentId: payment.terms.paymentId, refund: refund.refund },
      createdBy: plus(refund.requestedAt, givenUpAfter_ms / 2),
    };
    const caller = { ...by, keyless: false };
    const created = await deps.createPayment(requestOf(payment, refund), settingsOf(app, refund), caller, refunding);
    return isRefusal(created) ? created : refund;
  }

  /** The decision for an address that is one on its chain. */
  async function confirming(
    appId: string,
    paymentId: string,
    { transferId, address: text, memo }: AskedConfirmation,
    by: By,
  ) {
    const payment = (await roleCheck(appId, by, 'confirmRefundAddress')) ?? (await paymentOf(appId, paymentId));
    if (isRefusal(payment)) return payment;
    const own = payment.payins.find(({ id }) => id === transferId);
    if (!own) return refuse('invalidRequest', 'must be a transfer to this payment', '/transferId');
    const chain = chainOf(own.transfer.chainId);
    const address = deps.addresses.canonical(chain, text);
    if (address === null) return refuse('invalidRequest', `must be an address on ${chain.name}`, '/address');
    const problem = memo === null ? undefined : memoProblem(chain, address, memo);
    if (problem) return refuse('invalidRequest', problem, '/memo');
    const asked = {
      sender: own.transfer.from,
      transferId,
      address,
      memo,
      by: by.cause,
      delay_ms: deps.confirmDelay_ms,
    };
    return (state: PaymentState) => confirmRefundAddress(state, { ...asked, now: clock.now() });
  }

  return {
    order: (app, paymentId, asked, by) => oneByOne(paymentId, () => order(app, paymentId, asked, by)),

    async confirmAddress(appId, paymentId, asked, by) {
      const decide = await confirming(appId, paymentId, asked, by);
      return isRefusal(decide) ? decide : decided(await handle(paymentDecider, paymentId, decide, { ...by, appId }));
    },

    async checkAddress(appId, paymentId, asked, by) {
      const decide = await confirming(appId, paymentId, asked, by);
      if (isRefusal(decide)) return decide;
      const payment = await paymentOf(appId, paymentId);
      const events = isRefusal(payment) ? payment : decide(payment);
      return isRefusal(events) ? events : payment;
    },

    async withdrawAddress(appId, paymentId, number, by) {
      const payment = (await roleCheck(appId, by, 'withdrawRefundAddress')) ?? (await paymentOf(appId, paymentId));
      if (isRefusal(payment)) return payment;
      const decide = (state: PaymentState) => withdrawRefundAddress(state, number, by.cause, clock.now());
      return decided(await handle(paymentDecider, paymentId, decide, { ...by, appId }));
    },

    async facts(appId, paymentId) {
      const payment = await paymentOf(appId, paymentId);
      if (isRefusal(payment)) return null;
      const now = clock.now();
      return { payers: payersOf(payment, await deps.signers(payment), now), refunds: payment.fundedRefunds, now };
    },
  };
}

function decided(handled: { readonly state: PaymentState } | Refusal): Payment | Refusal {
  if (isRefusal(handled)) return handled;
  assert(handled.state !== null, 'a payment with decisions exists');
  return handled.state;
}

/** Maximum senders in a list; an operator refunds more. */
const payersMax = 50;

function payersOf(payment: Payment, signers: readonly KnownSigner[], now: Instant): readonly PayerOfRefund[] {
  const left = openFundedRefund(payment) ? [] : fundable(payment);
  const there = payment.payins.filter(({ phase }) => phase === 'confirmed');
  const firsts = Map.groupBy(there, ({ transfer }) => `${transfer.chainId} ${transfer.from}`);
  return [...firsts.values()].slice(0, payersMax).flatMap(([first]) => {
    if (!first) return [];
    const { from: sender, chainId, token } = first.transfer;
    const own = left.find((each) => each.sender === sender && each.chainId === chainId);
    return [
      {
        ...{ sender, transferId: first.id, chainId, tokenSymbol: (own?.token ?? token).symbol },
        fundable: own ? formatAmount(own.amount, own.token.decimals) : null,
        receiver: provenReceiver(payment, { chainId }, sender, signers, now)?.receiver.address ?? null,
        confirmed: confirmedFor(payment, sender, chainId) ?? null,
      },
    ];
  });
}

/** Request of the funding payment: its payout is the refund, and its fee comes on top. */
function requestOf({ terms }: Payment, { token, chainId, amount, refund, ...to }: FundedRefund): NewPayment {
  const side = { chainId, tokenSymbol: token.symbol };
  const { receiverAddress, receiverMemo } = to;
  return {
    appId: terms.appId,
    orderId: null,
    type: 'exactOut',
    intent: null,
    display: { title: `Refund of ${titleOf(terms)}`, description: null, currency: terms.display.currency },
    metadata: { refundOf: terms.paymentId, refund },
    source: side,
    destination: { ...side, amount: formatAmount(amount, token.decimals), receiverAddress, receiverMemo },
  };
}

const titleOf = ({ display, orderId, paymentId }: Payment['terms']): string =>
  (display.title ?? orderId ?? paymentId).slice(0, 180);

/** The payout goes to the payer instead of the app's wallet. No webhook reports it, and no policy accepts late money. */
const settingsOf = (
  app: AppSettings,
  { token, chainId, receiverAddress, receiverMemo }: FundedRefund,
): AppSettings => ({
  ...app,
  webhookUrl: null,
  webhookTypes: [],
  webhookEndpoints: [],
  policy: holdAll,
  settlement: { chainId, tokenSymbol: token.symbol, receiverAddress, receiverMemo },
});

// Ends refunds whose funding payment has ended.

export interface FundedRefundKey {
  readonly paymentId: string;
  readonly fundingPaymentId: string;
  readonly appId: string;
  readonly refund: number;
}

/** Repeating it changes nothing. Crash before the append: the list has the refund until its end is recorded. */
export async function settleFundedRefund(
  { handle, clock }: Pick<FundedRefundsDeps, 'handle' | 'clock'>,
  { paymentId, fundingPaymentId, appId, refund }: FundedRefundKey,
  by: By,
): Promise<Refusal | undefined> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  const known = payment?.fundedRefunds.find((each) => each.fundingPaymentId === fundingPaymentId);
  if (!known || known.ended !== null) return undefined;
  const funding = await currentState(handle, paymentDecider, fundingPaymentId);
  const outcome = funding ? fundingOutcome(funding) : missingOutcome(known, clock.now());
  if (outcome === null) return undefined;
  const decide = (state: PaymentState) => endFundedRefund(state, { refund, outcome, now: clock.now() });
  const ended = await handle(paymentDecider, paymentId, decide, { ...by, appId });
  return isRefusal(ended) ? ended : undefined;
}

const missingOutcome = ({ requestedAt }: FundedRefund, now: Instant): 'unpaid' | null =>
  now >= plus(requestedAt, givenUpAfter_ms) ? 'unpaid' : null;
