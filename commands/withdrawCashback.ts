/** A merchant withdraws credit that buyers have spent: a payment to the settlement wallet, which begins funded. */

import {
  type CashbackEvent,
  type CashbackState,
  cashback,
  orderedWithdrawal,
  otherAmount,
  overtaken,
  returnWithdrawal,
  type Withdrawal,
  withdraw,
} from '../domain/cashback.ts';
import { type Chain, chainOf, findChain, findToken } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { convert, units, unitsText, usCent, usMillionth } from '../domain/money.ts';
import { payOutCashback, returnedBy } from '../domain/payment/cashback.ts';
import { type AskedTerms, agree, type Terms } from '../domain/payment/create.ts';
import { paymentDecider } from '../domain/payment/state.ts';
import { hour_ms, type Instant, plus } from '../domain/time.ts';
import { eventCodec } from './codec.ts';
import { type CreatePaymentDeps, pricePayment } from './createPayment.ts';
import { type By, createRoleCheck, currentState, type Handle, readBackwards } from './handle.ts';
import { withdrawalPaymentIdOf } from './paymentId.ts';
import { type AppSettings, askReceiver } from './paymentRequest.ts';
import { type Clock, type CrashPoint, type DepositScheme, type EventStore, Unavailable } from './ports.ts';

export interface FinishDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Every payment has a deposit, even one that nobody will pay. */
  readonly deposits: Partial<Record<Chain['family'], DepositScheme>>;
  readonly crash?: CrashPoint;
}

export type WithdrawDeps = FinishDeps &
  Pick<CreatePaymentDeps, 'canReceive' | 'checkRoute' | 'feeOf' | 'payoutCostOf' | 'offers' | 'roleCheck'>;

export interface WithdrawalAsked {
  /** Idempotency key of the merchant: a repeated request is the same withdrawal. */
  readonly withdrawalId: string;
  readonly cents: bigint;
}

export interface Withdrawn {
  /** Payment of the withdrawal, less the usual fee. */
  readonly paymentId: string;
  readonly balance_cents: bigint;
}

export type WithdrawCashback = (app: AppSettings, asked: WithdrawalAsked, by: By) => Promise<Withdrawn | Refusal>;

const pointer = '/amount_usd_cents';

/**
 * The merchant's account decides, and its payment follows. Crash between the two: the account holds everything that the payment needs, and
 * the worker of withdrawals, or a repeated request, creates it; its id allows it once.
 */
export function createWithdrawCashback(deps: WithdrawDeps): WithdrawCashback {
  const { handle } = deps;
  return async (app, { withdrawalId, cents }, by) => {
    const { appId } = app;
    const forbidden = await (deps.roleCheck ?? createRoleCheck(handle))(appId, by, 'withdrawCashback');
    if (forbidden) return forbidden;
    const paymentId = withdrawalPaymentIdOf(app.idSalt, withdrawalId);
    for (let tries = 1; ; tries += 1) {
      const refused = await decideOnce(deps, app, { paymentId, cents }, by);
      if (!refused) break;
      if (refused !== overtaken || tries === triesMax) return refused;
    }
    const unfinished = await finishWithdrawal(deps, appId, paymentId, by);
    if (unfinished) return unfinished;
    const { balance_cents } = await currentState(handle, cashback, appId);
    return { paymentId, balance_cents: BigInt(balance_cents) };
  };
}

const triesMax = 8;

/** Reads the account before it looks for the payment: a concurrent withdrawal with this id appears in one of the two. */
async function decideOnce(
  deps: WithdrawDeps,
  app: AppSettings,
  asked: { readonly paymentId: string; readonly cents: bigint },
  by: By,
): Promise<Refusal | undefined> {
  const { handle, clock } = deps;
  const { appId } = app;
  const seen = await currentState(handle, cashback, appId);
  const payment = await currentState(handle, paymentDecider, asked.paymentId);
  if (payment) {
    const { amount, token } = payment.terms.source;
    return amount === unitsText(convert(asked.cents, usCent, token)) ? undefined : otherAmount;
  }
  const withdrawal = await readWithdrawal(deps, app, asked);
  if (isRefusal(withdrawal)) return withdrawal;
  const decide = (state: CashbackState) => withdraw(state, withdrawal, { seen, now: clock.now() });
  const decided = await handle(cashback, appId, decide, { ...by, appId });
  if (isRefusal(decided)) return decided;
  await deps.crash?.('withdrawal.afterDecided');
  return undefined;
}

/** Amount and receiver at today's fee; refused if it cannot be paid out now. */
async function readWithdrawal(
  { canReceive, checkRoute, feeOf, payoutCostOf, offers }: WithdrawDeps,
  { appId, settlement }: AppSettings,
  { paymentId, cents }: { readonly paymentId: string; readonly cents: bigint },
): Promise<Withdrawal | Refusal> {
  const chain = settlement && findChain(settlement.chainId);
  const token = settlement && chain && findToken(chain, settlement.tokenSymbol);
  if (!settlement || !chain || !token) {
    return refuse('settlementMissing', 'the app has no settlement wallet: set one before withdrawing');
  }
  if (!offers(chain))
    return refuse('routeUnavailable', `this installation does not pay out on ${chain.name} at present`);
  const { receiverAddress, receiverMemo } = settlement;
  const { fixed_microUsd, basisPoints } = feeOf(chain, chain);
  const fee = { fixed: unitsText(convert(fixed_microUsd, usMillionth, token)), basisPoints };
  const usual = {
    paymentId,
    cents: cents.toString(),
    chainId: chain.id,
    token,
    receiverAddress,
    receiverMemo,
    fee,
  };
  const asked = agree(termsOf(usual));
  if (isRefusal(asked)) return { ...asked, pointer };
  const price = await pricePayment(payoutCostOf, { ...termsOf(usual), agreed: asked });
  if (isRefusal(price)) return price.pointer === undefined ? price : { ...price, pointer };
  const { feePolicy, agreed, opensAccount } = price;
  assert(agreed !== null, 'a withdrawal has an amount');
  const withdrawal = {
    ...usual,
    fee: { fixed: unitsText(feePolicy.fixed), basisPoints },
    ...(opensAccount !== undefined && { opensAccount }),
  };
  // Nobody has to pay first, so the money must be there now.
  const unpayable = checkRoute(chain, token, agreed.destination, pointer, appId, 0);
  if (unpayable) return unpayable;
  const ask = canReceive[chain.family];
  const receiving = { chain, token, receiver: receiverAddress, amount: agreed.destination, receiverMemo };
  return (ask && (await askReceiver(ask, receiving, pointer, pointer))) ?? withdrawal;
}

function termsOf({
  chainId,
  token,
  cents,
  receiverAddress,
  receiverMemo,
  fee,
  opensAccount,
}: Withdrawal): AskedTerms & Pick<Terms, 'feePolicy' | 'opensAccount'> {
  const side = { chain: chainOf(chainId), token };
  return {
    type: 'exactIn',
    intent: null,
    source: { ...side, amount: convert(BigInt(cents), usCent, token), senderAddress: null },
    destination: { ...side, amount: null, receiverAddress, receiverMemo },
    feePolicy: { fixed: units(BigInt(fee.fixed)), basisPoints: fee.basisPoints },
    ...(opensAccount !== undefined && { opensAccount }),
  };
}

/** Creates the payment of a decided withdrawal; repeating it changes nothing. @throws Unavailable */
export async function finishWithdrawal(
  { handle, clock, deposits }: FinishDeps,
  appId: string,
  paymentId: string,
  by: By,
): Promise<Refusal | undefined> {
  const { open } = await currentState(handle, cashback, appId);
  const withdrawal = open.find((each) => each.paymentId === paymentId);
  if (!withdrawal) return undefined;
  const scheme = deposits[chainOf(withdrawal.chainId).family];
  if (!scheme) return refuse('routeUnavailable', `chain ${withdrawal.chainId} is not served at present`);
  const deposit = await scheme.assign(paymentId, withdrawal.token, null);
  const terms: Terms = {
    ...termsOf(withdrawal),
    paymentId,
    appId,
    orderId: null,
    keyless: false,
    display: { title: 'Cashback withdrawal', description: null, currency: 'USD' },
    metadata: null,
    deposit,
    webhookUrl: null,
    now: clock.now(),
  };
  const facts = { ...by, appId };
  const paid = await handle(paymentDecider, paymentId, (state) => payOutCashback(state, terms), facts);
  if (isRefusal(paid)) return paid;
  const ordered = await handle(cashback, appId, (state) => orderedWithdrawal(state, paymentId, clock.now()), facts);
  return isRefusal(ordered) ? ordered : undefined;
}

// Finds a payment's withdrawal in the merchant's account of credit: a stream that grows with every sale.

/** Maximum events read for one withdrawal. */
const eventsMax = 1_000_000;
/** Upper bound for the difference between two instances' clocks. */
const clockDifference_ms = hour_ms;

/**
 * Reads from the newest event back to the last one before the payment's creation: each event's state lists a withdrawal until its payment
 * exists. So the cost depends on the credit payments since then, not on all that the merchant ever received.
 * @returns undefined if the merchant has made no such withdrawal, or its cents have returned to the account
 * @throws Unavailable after a million events, ChainBroken
 */
export async function findWithdrawal(
  store: Pick<EventStore, 'read'>,
  { appId, paymentId, createdAt }: { readonly appId: string; readonly paymentId: string; readonly createdAt: Instant },
): Promise<Withdrawal | undefined> {
  const oldest = plus(createdAt, -clockDifference_ms);
  let read = 0;
  for await (const stored of readBackwards(store, `cashback-${appId}`)) {
    const event = eventCodec.read(stored) as CashbackEvent | undefined;
    if (event?.type === 'WithdrawalReturned' && event.data.paymentId === paymentId) return undefined;
    const found = event && withdrawalIn(event, paymentId);
    if (found) return found;
    if (stored.metadata.at < oldest) return undefined;
    read += 1;
    if (read >= eventsMax)
      throw new Unavailable(
        `${appId} has received ${eventsMax} credit payments since payment ${paymentId}: tell the operator`,
      );
  }
  return undefined;
}

const withdrawalIn = (event: CashbackEvent, paymentId: string): Withdrawal | undefined =>
  event.type === 'CashbackWithdrawn' && event.data.paymentId === paymentId
    ? event.data
    : event.data.after.open.find((each) => each.paymentId === paymentId);

// Returns the cents of a withdrawal of cashback to the merchant's account when its payment bounced.

export interface ReturnDeps {
  readonly handle: Handle;
  readonly store: Pick<EventStore, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Changes nothing if the payment has not bounced or the cents have returned. After a crash the worker of withdrawals repeats it.
 *
 * @throws Unavailable
 */
export async function returnBounced(
  { handle, store, clock }: ReturnDeps,
  appId: string,
  paymentId: string,
  by: By,
): Promise<Refusal | undefined> {
  const payment = await currentState(handle, paymentDecider, paymentId);
  const cents = payment && returnedBy(payment);
  if (!payment || cents === null) return undefined;
  const { createdAt } = payment.terms;
  for (let tries = 1; tries <= triesMax; tries += 1) {
    // Reads the account before the search: a concurrent return appears in one of the two.
    const seen = await currentState(handle, cashback, appId);
    if (!(await findWithdrawal(store, { appId, paymentId, createdAt }))) return undefined;
    const decide = (state: CashbackState) => returnWithdrawal(state, { paymentId, cents }, { seen, now: clock.now() });
    const returned = await handle(cashback, appId, decide, { ...by, appId });
    if (!isRefusal(returned)) return undefined;
    if (returned !== overtaken) return returned;
  }
  return overtaken;
}
