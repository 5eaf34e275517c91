/** Orders and quotes refunds of a payment's held money. */

import { type Chain, type ChainId, chainOf, memoProblem, type Token, tokenAt } from '../domain/chains.ts';
import { credit, hasSpent } from '../domain/credit.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { convertUp, smaller, usMillionth } from '../domain/money.ts';
import type { TokenRef } from '../domain/payment/events.ts';
import {
  type CostOf,
  type KnownSigner,
  ownersOf,
  type PlannedRefund,
  type PricedRefund,
  planRefunds,
  type RefundableMoney,
  type RefundOrder,
  type RefundReceiver,
  requestRefunds,
  type SendingCost,
} from '../domain/payment/refundOrder.ts';
import { type Payment, type PaymentState, paymentDecider, type Refund, refundable } from '../domain/payment/state.ts';
import type { Instant } from '../domain/time.ts';
import { serializeByKey } from '../src/lib/concurrency.ts';
import type { PayoutCostOf } from './createPayment.ts';
import { type By, createRoleCheck, currentState, type Handle, type RoleCheck } from './handle.ts';
import { askReceiver } from './paymentRequest.ts';
import { type AddressSpelling, type Clock, type ReceiverChecks, refuseUnavailable, Unavailable } from './ports.ts';

// Checks whether a receiver can receive a refund, and its network fee.

export interface SendingDeps {
  readonly addresses: AddressSpelling;
  readonly canReceive: ReceiverChecks;
  readonly payoutCostOf: PayoutCostOf;
}

export interface SentBack {
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly amount: bigint;
  readonly receiver: RefundReceiver;
}

/** Returns why the receiver cannot receive it, and what to do; undefined if it can. */
export async function receiverProblem(deps: SendingDeps, planned: SentBack): Promise<Refusal | undefined> {
  const chain = chainOf(planned.chainId);
  const { address, memo } = planned.receiver;
  if (deps.addresses.canonical(chain, address) !== address)
    return refuse('invalidRequest', `${address} is not an address of ${chain.name}`, '/to');
  const wrongMemo = memo === null ? undefined : memoProblem(chain, address, memo);
  if (wrongMemo) return refuse('invalidRequest', wrongMemo, '/memo');
  const ask = deps.canReceive[chain.family];
  const { token, amount } = planned;
  const receiving = { chain, token: knownToken(chain, token.address), receiver: address, amount, receiverMemo: memo };
  return ask && askReceiver(ask, receiving, '/to', '/memo');
}

/** Network fee of the refund and its parts. */
export async function sendingCost(
  { payoutCostOf }: Pick<SendingDeps, 'payoutCostOf'>,
  { chainId, token, receiver }: Omit<SentBack, 'amount'>,
): Promise<SendingCost | Refusal> {
  const chain = chainOf(chainId);
  try {
    const cost = await payoutCostOf(chain, knownToken(chain, token.address), receiver.address);
    const { cost_microUsd, opensAccount } = cost;
    const networkFee = convertUp(cost_microUsd, usMillionth, token);
    return { networkFee, ...(opensAccount !== undefined && { opensAccount }) };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return refuseUnavailable(error, `${error.message}: try again in a moment`);
  }
}

function knownToken(chain: Chain, address: string): Token {
  const token = tokenAt(chain, address);
  assert(token !== undefined, `what came on ${chain.name} is a token that is known there`);
  return token;
}

export interface RefundsDeps extends SendingDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Default: reads the app in the same log. */
  readonly roleCheck?: RoleCheck;
}

/** A payment; with `appId`, only if it belongs to that app. */
export interface RefundedPayment {
  readonly paymentId: string;
  readonly appId: string | null;
}

export type AskedRefund = Omit<RefundOrder, 'signers'>;

export interface OrderedRefunds {
  readonly payment: Payment;
  /** Refunds that the request ordered, now or before. */
  readonly refunds: readonly Refund[];
  /** Time of the payment's last change. */
  readonly at: Instant;
  readonly orderedNow: boolean;
}

export interface Refunds {
  /**
   * Crash before the append: nothing is ordered. After it: the order is final, and the same key returns it.
   * @returns paymentNotFound, forbidden, refundExceedsHeld, refundAddressUnproven, refundTooSmall, orderConflict, invalidRequest,
   * unavailable
   */
  order(of: RefundedPayment, asked: AskedRefund, by: By): Promise<OrderedRefunds | Refusal>;
  /** Refunds and fees of the order in the current state; refused like the order. */
  preview(of: RefundedPayment, asked: AskedRefund, by: By): Promise<readonly PricedRefund[] | Refusal>;
  /** The payment's current state in the log; null if there is none. */
  payment(of: RefundedPayment): Promise<Payment | null>;
  /** Senders who have paid by credit: their money may be refunded to their accounts. */
  signers(payment: Payment): Promise<readonly KnownSigner[]>;
  /** Refundable money of a payment. */
  held(payment: Payment): Promise<readonly RefundableMoney[]>;
}

export const paymentUnknown = refuse(
  'paymentNotFound',
  'no payment has this id: check it against the create response',
  '/id',
);

export function createRefunds(deps: RefundsDeps): Refunds {
  const { handle, clock } = deps;
  const oneByOne = serializeByKey();

  const roleCheck = deps.roleCheck ?? createRoleCheck(handle);
  const forbidden = async ({ appId }: RefundedPayment, by: By): Promise<Refusal | undefined> =>
    appId === null ? undefined : roleCheck(appId, by, 'orderRefund');

  async function payment({ paymentId, appId }: RefundedPayment): Promise<Payment | null> {
    const state = await currentState(handle, paymentDecider, paymentId);
    return state && (appId === null || state.terms.appId === appId) ? state : null;
  }

  /** Completes the order with all facts that the stream needs. */
  async function read(of: RefundedPayment, asked: AskedRefund): Promise<Read | Refusal> {
    const found = await payment(of);
    if (!found) return paymentUnknown;
    if (found.terms.keyless && (asked.by === 'owner' || asked.by === 'key')) return ofStranger;
    const to = asked.to === 'proven' ? asked.to : asSpelled(deps, found, asked.to);
    const whole: RefundOrder = { ...asked, to, signers: to === 'proven' ? await signersOf(handle, found) : [] };
    // A repeated key returns its order even if its chain is unavailable, or its receiver can no longer receive.
    const isRepeated = asked.key !== null && found.refunds.some(({ request }) => request.requestKey === asked.key);
    const costs = isRepeated ? new Map<string, SendingCost>() : await costsOf(deps, found, whole);
    return isRefusal(costs) ? costs : { payment: found, whole, costOf: (planned) => costs.get(keyOf(planned)) };
  }

  async function order(of: RefundedPayment, asked: AskedRefund, by: By): Promise<OrderedRefunds | Refusal> {
    const ready = (await forbidden(of, by)) ?? (await read(of, asked));
    if (isRefusal(ready)) return ready;
    const { whole, costOf: known } = ready;
    const facts = { ...by, appId: ready.payment.terms.appId };
    const decide = (state: PaymentState) => requestRefunds(state, whole, known, clock.now());
    const handled = await oneByOne(of.paymentId, () => handle(paymentDecider, of.paymentId, decide, facts));
    if (isRefusal(handled)) return handled;
    const { state, at, appended } = handled;
    assert(state !== null && at !== null, 'a payment with refunds exists');
    const former = state.refunds.filter(({ request }) => request.requestKey === asked.key);
    const refunds = appended > 0 ? state.refunds.slice(-appended) : former;
    return { payment: state, refunds, at, orderedNow: appended > 0 };
  }

  async function preview(of: RefundedPayment, asked: AskedRefund, by: By): Promise<readonly PricedRefund[] | Refusal> {
    const ready = (await forbidden(of, by)) ?? (await read(of, { ...asked, key: null }));
    if (isRefusal(ready)) return ready;
    const events = requestRefunds(ready.payment, ready.whole, ready.costOf, clock.now());
    if (isRefusal(events)) return events;
    const plan = planRefunds(ready.payment, ready.whole, clock.now());
    if (isRefusal(plan)) return plan;
    const priced = plan.map((each) => ({ ...each, networkFee: ready.costOf(each)?.networkFee ?? 0n }));
    return priced.filter(({ amount, networkFee }) => amount > networkFee);
  }

  async function held(holding: Payment): Promise<readonly RefundableMoney[]> {
    const owners = ownersOf(holding, await signersOf(handle, holding), clock.now());
    return Promise.all(
      refundable(holding).map(async (entry) => {
        const own = owners.filter(({ chainId, tokenAddress }) => isOf(entry, chainId, tokenAddress));
        const to = own.find(({ receiver }) => receiver)?.receiver ?? { address: own[0]?.sender ?? '', memo: null };
        const cost = await sendingCost(deps, { ...entry, receiver: to });
        const proven = own.reduce((sum, { receiver, amount }) => sum + (receiver ? amount : 0n), 0n);
        return {
          ...entry,
          proven: smaller(proven, entry.amount),
          networkFee: isRefusal(cost) ? null : cost.networkFee,
          owners: own,
        };
      }),
    );
  }

  return { order, preview, payment, held, signers: (of) => signersOf(handle, of) };
}

interface Read {
  readonly payment: Payment;
  readonly whole: RefundOrder;
  readonly costOf: CostOf;
}

const ofStranger = refuse(
  'forbidden',
  'this payment was created without a key: the operator alone can send its money back',
);

const isOf = ({ chainId, token }: Pick<PlannedRefund, 'chainId' | 'token'>, onChain: ChainId, address: string) =>
  chainId === onChain && token.address === address;

/** In the spelling of the payin's chain; unchanged if it is no address of any. */
function asSpelled({ addresses }: RefundsDeps, { payins }: Payment, to: RefundReceiver): RefundReceiver {
  const chains = new Set(payins.map(({ transfer }) => transfer.chainId));
  const spelled = [...chains].map((chainId) => addresses.canonical(chainOf(chainId), to.address));
  return { ...to, address: spelled.find((address) => address !== null) ?? to.address };
}

/** Maximum senders; held money of more senders is refunded by the operator. */
const sendersMax = 50;

/** Senders who have paid by credit with signed messages: their accounts belong to them. */
async function signersOf(handle: Handle, payment: Payment): Promise<readonly KnownSigner[]> {
  const senders = new Set(payment.payins.map(({ transfer }) => transfer.from));
  const known = await Promise.all(
    [...senders].slice(0, sendersMax).map(async (account) => {
      const state = await currentState(handle, credit, account);
      return hasSpent(state) ? [{ account, chainIds: state.earnedOn }] : [];
    }),
  );
  return known.flat();
}

const keyOf = ({ chainId, token, receiver }: PlannedRefund): string =>
  [chainId, token.address, receiver.address].join(' ');

/** Network fee of each planned refund, after its receiver is checked. A refused plan costs nothing: the stream states the refusal. */
async function costsOf(
  deps: RefundsDeps,
  payment: Payment,
  order: RefundOrder,
): Promise<ReadonlyMap<string, SendingCost> | Refusal> {
  const plan = planRefunds(payment, order, deps.clock.now());
  const costs = new Map<string, SendingCost>();
  for (const planned of isRefusal(plan) ? [] : plan) {
    const cost = (await receiverProblem(deps, planned)) ?? (await sendingCost(deps, planned));
    if (isRefusal(cost)) return cost;
    costs.set(keyOf(planned), cost);
  }
  return costs;
}
