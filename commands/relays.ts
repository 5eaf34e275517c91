/** A payer's signed authorization is checked, priced and ordered. What happens next the workers of relays do. */
import { type ChainId, chainOf } from '../domain/chains.ts';
import { assert, isRefusal, type Refusal, type RefusalCode, refuse } from '../domain/decider.ts';
import type { Deposit } from '../domain/payment/events.ts';
import { type CoinPrice, coinInMicroUsd } from '../domain/payment/fees.ts';
import { feeFrom_microUsd, type RelayedSource, refusalToRelay, relayedSources } from '../domain/payment/relayed.ts';
import { familyOf } from '../domain/payment/sources.ts';
import { type Payment, paymentDecider } from '../domain/payment/state.ts';
import { type RelayEnd, type RelayOrdered, relaysPerPaymentMax } from '../domain/relay/events.ts';
import { type RelayLimits, refusalOfCost, relayGas, relayHourOf, reserveRelayGas } from '../domain/relay/gas.ts';
import {
  isRelayOpen,
  isSameAuthorization,
  orderMoved,
  orderRelay,
  type Relay,
  type RelayState,
  relay,
  relayIdOf,
} from '../domain/relay/relay.ts';
import { payinOf, type RelayResult, relayResultOf } from '../domain/relay/result.ts';
import { epochMs, type Instant, minute_ms } from '../domain/time.ts';
import type { ChosenSource } from './chooseSource.ts';
import { type By, currentState, type Handle } from './handle.ts';
import type { MovingTransaction } from './matchUnmatched.ts';
import { type Clock, type CrashPoint, refuseUnavailable, TransientError, Unavailable } from './ports.ts';
import type { PayinHint, PaymentRef } from './recordPayin.ts';
import type {
  Accepted,
  RelayDesk,
  RelayDraft,
  RelayFault,
  Relaying,
  RelayOffer,
  RelayRefusal,
  Relays,
  RelayTerms,
  SignedAuthorization,
} from './relayPorts.ts';
import { PayoutBlocked } from './transferPorts.ts';

export interface RelayDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly crash?: CrashPoint;
  /** Undefined for a chain without a relay account. */
  readonly relayOn: (chainId: ChainId) => Omit<Relaying, 'rail'> | undefined;
  readonly priceOf: (chainId: ChainId) => CoinPrice | undefined;
  readonly limits: RelayLimits;
  /** The payment's deposit at a source. It is derived, and nothing is recorded; null on an instance that cannot derive it. @throws Unavailable */
  readonly depositOf: (paymentId: string, source: RelayedSource) => Promise<Deposit | null>;
  /** @param deposit the derived one, which the payer has signed for */
  readonly chooseSource: (
    paymentId: string,
    source: ChosenSource,
    by: By,
    deposit: Deposit,
  ) => Promise<Payment | Refusal>;
  /** Looks up a transaction that moved the payer's money before the authorization was handed in. */
  readonly registerPayin: (own: PaymentRef, hint: PayinHint, by: By) => Promise<unknown>;
  /** Gives the payment what the transaction moved to its deposit, if it was recorded as unmatched before the payment existed. @throws Unavailable */
  readonly claimUnmatched: (paymentId: string, paid: MovingTransaction, by: By) => Promise<Refusal | undefined>;
}

const seconds = /^(0|[1-9][0-9]{0,11})$/;

/** Minimum time to send and mine a transaction; the reference facilitator requires it too. */
const validLeast_s = 6n;
/** An authorization is a cheque to the deposit: none is kept that is good for longer. */
const validMost_s = 86_400n;
/** Money that arrives after the payment's end is held for a refund: a relay needs this time. */
const openLeast_ms = minute_ms / 2;

const faultOf: Readonly<Record<RelayEnd, RelayFault>> = {
  superseded: 'invalid_exact_evm_nonce_already_used',
  cancelled: 'invalid_exact_evm_nonce_already_used',
  expired: 'invalid_exact_evm_payload_authorization_valid_before',
  drained: 'invalid_exact_evm_insufficient_balance',
  refused: 'invalid_exact_evm_transaction_simulation_failed',
  paid: 'payment_over',
};

const refused = (fault: RelayFault, message: string, code: RefusalCode = 'invalidRequest'): RelayRefusal => ({
  ...refuse(code, message),
  fault,
});
const because = (fault: RelayFault, refusal: Refusal): RelayRefusal => ({ ...refusal, fault });

const unreadable = refused('invalid_payload', 'the authorization has a field that the token could not read');

/** Inputs of the server's nonces: a payment, a source, and the number of the next relay. */
const nonceText = (paymentId: string, { chainId, token }: RelayedSource, number: number): string =>
  `payment-intents/authorization-1/${paymentId}/${chainId}/${token.address}/${number}`;

export function createRelays(deps: RelayDeps): Relays {
  const { handle, clock, relayOn } = deps;

  /** In their order. A further one is ordered only after all of these ended without money. */
  async function relaysOf(paymentId: string): Promise<readonly Relay[]> {
    const found: Relay[] = [];
    for (let number = 1; number <= relaysPerPaymentMax; number += 1) {
      const state = await currentState(handle, relay, relayIdOf(paymentId, number));
      if (!state) break;
      found.push(state);
    }
    return found;
  }

  async function offerOf(payment: Payment, source: RelayedSource, number: number, signal: AbortSignal) {
    const relaying = relayOn(source.chainId);
    const terms = await relaying?.termsOf(source.token, signal);
    if (!relaying || !terms) return [];
    const { paymentId } = payment.terms;
    const deposit = payment.deposits[familyOf(source)] ?? (await deps.depositOf(paymentId, source));
    const payTo = deposit && relaying.receiverOf(deposit);
    if (!deposit || payTo === null) return [];
    const nonce = relaying.nonceOf(nonceText(paymentId, source, number));
    const { network } = relaying;
    return [{ source, deposit, payTo, network, asset: relaying.assetOf(source.token), terms, nonce }];
  }

  async function desk(paymentId: string, signal: AbortSignal): Promise<RelayDesk | null> {
    const payment = await currentState(handle, paymentDecider, paymentId);
    if (!payment) return null;
    const relays = await relaysOf(paymentId);
    const own = relays.at(-1);
    const last = own ? { relay: own, result: relayResultOf(payment, own) } : null;
    if (refusalOfMore(payment, relays, clock.now())) return { payment, offers: [], last };
    const offers = relayedSources(payment).map((source) =>
      // A chain whose nodes do not answer offers nothing now.
      offerOf(payment, source, relays.length + 1, signal).catch(unlessAway),
    );
    return { payment, offers: (await Promise.all(offers)).flat(), last };
  }

  const draftDesk: Relays['draftDesk'] = async (payment, signal) => {
    const offers = relayedSources(payment).map((source) => offerOf(payment, source, 1, signal).catch(unlessAway));
    return { payment, offers: (await Promise.all(offers)).flat(), last: null };
  };

  async function find(paymentId: string, signed: SignedAuthorization): Promise<Accepted | null> {
    const payment = await currentState(handle, paymentDecider, paymentId);
    const payer = payment && accountIn(deps, signed);
    if (!payment || !payer) return null;
    const same = { ...signed, payer, nonce: signed.nonce.toLowerCase() };
    const known = (await relaysOf(paymentId)).find(
      (each) => isSameAuthorization(each, same) && isSameSignature(each.ordered.form.signature, signed.signature),
    );
    return known ? { payment, relay: known, result: relayResultOf(payment, known) } : null;
  }

  return {
    read: (chainId, transaction) => relayOn(chainId)?.read?.(transaction) ?? null,
    desk,
    draftDesk,
    find,
    async verify(paymentId, signed, signal) {
      const known = await find(paymentId, signed);
      if (known) return known.result.kind === 'failed' ? failedBefore(known.result) : known.relay.ordered.form.payer;
      const ordering = await readyToOrder(paymentId, signed, signal);
      if (isRefusal(ordering)) return ordering;
      const priced = await priceOf(deps, ordering, signal);
      return isRefusal(priced) ? priced : ordering.checked.payer;
    },
    async accept(paymentId, signed, by, signal, draft) {
      const known = await find(paymentId, signed);
      if (known) return known;
      const ordering = await readyToOrder(paymentId, signed, signal, draft);
      return isRefusal(ordering) ? ordering : order(deps, ordering, by, signal);
    },
  };

  /** Checks all that needs no node. */
  async function readyToOrder(
    paymentId: string,
    signed: SignedAuthorization,
    signal: AbortSignal,
    draft?: RelayDraft,
  ): Promise<Ordering | RelayRefusal> {
    const stored = await currentState(handle, paymentDecider, paymentId);
    const payment = stored ?? draft?.payment;
    if (!payment) return refused('invalid_payload', 'there is no such payment', 'paymentNotFound');
    const relays = await relaysOf(paymentId);
    const number = relays.length + 1;
    const source = relayedSources(payment).find(
      (each) => each.chainId === signed.chainId && each.token.address === signed.tokenAddress,
    );
    const more = refusalOfMore(payment, relays, clock.now());
    if (more && !(source && number <= relaysPerPaymentMax && isPaidAlready(deps, payment, source, signed))) return more;
    const [offer] = source ? await offerOf(payment, source, number, signal) : [];
    if (!source || !offer) return refused('invalid_network', 'this payment takes no authorization of this token');
    if (!seconds.test(signed.validAfter) || !seconds.test(signed.validBefore)) return unreadable;
    const late = refusalOfTime(signed, offer.terms, clock.now());
    if (late && !isLatelyOver(signed, clock.now())) return late;
    const checked = await check(deps, payment, offer, signed);
    if (isRefusal(checked)) return checked;
    const unlessMoved = more ?? late ?? (stored || draft?.isFresh ? undefined : notOffered);
    const create = stored || !draft ? async () => payment : draft.create;
    return { payment, offer, number, checked, unlessMoved, create };
  }
}

const failedBefore = ({ reason, detail }: Extract<RelayResult, { kind: 'failed' }>): RelayRefusal =>
  refused(reason === 'late' ? 'payment_over' : faultOf[reason], detail, 'conflict');

const otherDeposit = refused(
  'invalid_exact_evm_payload_recipient_mismatch',
  'the payment has another deposit by now: request the terms again and sign those',
  'conflict',
);

const notOffered = refused('payment_over', 'this price is no longer offered: request the terms again and sign those');

/** Whether the payer's money has arrived before the authorization that may have moved it. */
function isPaidAlready(
  deps: RelayDeps,
  payment: Payment,
  { chainId, token, amount }: RelayedSource,
  signed: SignedAuthorization,
): boolean {
  const payer = accountIn(deps, signed);
  return payer !== null && payinOf(payment, { chainId, token, amount, form: { payer } }) !== undefined;
}

/** The authorization has expired, but somebody may have sent it in time. */
const isLatelyOver = ({ validBefore }: SignedAuthorization, now: Instant): boolean => {
  if (!seconds.test(validBefore)) return false;
  const left_s = BigInt(validBefore) - nowIn_s(now);
  return left_s < validLeast_s && left_s > -validMost_s;
};

const nowIn_s = (now: Instant): bigint => BigInt(Math.floor(epochMs(now) / 1_000));

/**
 * Why an authorization, whose times are whole seconds, cannot be sent at this time. The simulation compares ledgers and blockhashes with the
 * chain.
 */
function refusalOfTime(
  { validAfter, validBefore }: SignedAuthorization,
  { kind }: RelayTerms,
  at: Instant,
): RelayRefusal | undefined {
  if (kind !== 'eip712') return undefined;
  const now = nowIn_s(at);
  if (BigInt(validAfter) > now)
    return refused('invalid_exact_evm_payload_authorization_valid_after', 'it is not valid yet');
  if (BigInt(validBefore) < now + validLeast_s || BigInt(validBefore) > now + validMost_s)
    return refused(
      'invalid_exact_evm_payload_authorization_valid_before',
      `it must be valid for ${validLeast_s} to ${validMost_s} seconds more`,
    );
  return undefined;
}

/** Both halves alike: wallets number the last byte in two ways. Nobody but the payer gets the result of an authorization. */
const isSameSignature = (accepted: string, sent: string): boolean =>
  sent.length === accepted.length && sent.slice(0, -2).toLowerCase() === accepted.slice(0, -2);

/** A source is not offered while its nodes do not answer. */
function unlessAway(error: unknown): readonly RelayOffer[] {
  if (error instanceof TransientError) return [];
  throw error;
}

const accountIn = ({ relayOn }: RelayDeps, { chainId, from }: SignedAuthorization): string | null =>
  relayOn(chainId as ChainId)?.accountOf(from) ?? null;

/** Reason why the payment accepts no further relay now. Of two authorizations of one payment only one is in flight. */
function refusalOfMore(payment: Payment, relays: readonly Relay[], now: Instant): RelayRefusal | undefined {
  const open = relays.find((each) => isRelayOpen(each) || relayResultOf(payment, each).kind === 'pending');
  if (open)
    return refused(
      'duplicate_settlement',
      'another authorization of this payment is being settled: wait for its result',
      'conflict',
    );
  const over = refusalToRelay(payment, now);
  if (over) return because('payment_over', over);
  if (epochMs(payment.terms.expiresAt) - epochMs(now) < openLeast_ms)
    return refused('payment_over', 'the time to pay is nearly over: make another payment', 'paymentNotUpdatable');
  if (relays.length >= relaysPerPaymentMax)
    return refused(
      'payment_over',
      `${relaysPerPaymentMax} authorizations of this payment failed: pay with an ordinary transfer`,
      'conflict',
    );
  return undefined;
}

type Checked = Pick<SignedAuthorization, 'validAfter' | 'validBefore' | 'nonce' | 'signature'> & {
  readonly payer: string;
};

function formOf(
  { deposit, terms }: RelayOffer,
  { payer, validAfter, validBefore, nonce, signature }: Checked,
  costMax: string,
): RelayOrdered['form'] {
  const { address, salt, memo } = deposit;
  const signed = { payer, nonce, signature, costMax };
  if (terms.kind === 'eip712')
    return { kind: 'authorization', deposit: { address, salt }, validAfter, validBefore, ...signed };
  if (terms.kind === 'transaction') return { kind: 'payerTransaction', deposit: { address, salt }, ...signed };
  assert(memo !== null, 'an entry pays a memo');
  return { kind: 'authorizationEntry', deposit: { address, salt, memo }, validUntil: validBefore, ...signed };
}

/** Checks everything that needs no node, against the payment's own terms alone: echoed fields of the caller are not trusted. */
async function check(
  deps: RelayDeps,
  { terms }: Payment,
  { source, payTo, terms: signing }: RelayOffer,
  signed: SignedAuthorization,
): Promise<Checked | RelayRefusal> {
  const relaying = deps.relayOn(source.chainId);
  assert(relaying !== undefined, 'what is offered has a relay account');
  const payer = relaying.accountOf(signed.from);
  const { validAfter, validBefore, signature } = signed;
  const nonce = relaying.nonceIn(signed.nonce);
  if (payer === null || nonce === null) return unreadable;
  if (relaying.accountOf(signed.to) !== (relaying.accountAt?.(payTo, source.token) ?? payTo))
    return refused('invalid_exact_evm_payload_recipient_mismatch', `it must pay ${payTo}`);
  if (signed.value !== source.amount)
    return refused('invalid_exact_evm_payload_authorization_value_mismatch', `it must pay exactly ${source.amount}`);
  // A contract's call names its sender. The announced sender of a plain transfer is a hint: any signer can pay.
  if (terms.intent !== null && payer !== terms.source.senderAddress)
    return refused('invalid_payer', 'another account was named to pay this');
  const { token, amount } = source;
  const authorization = { token, payer, receiver: payTo, amount: BigInt(amount) };
  const window = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
  const accepted = await relaying.signatureOf({ ...authorization, ...window, nonce }, signing, signature);
  if (accepted === null)
    return refused(
      'invalid_exact_evm_signature',
      'the signature is not that of the payer’s own key: signatures of contract wallets and of further signers are not accepted',
    );
  return { payer, validAfter, validBefore, nonce, signature: accepted };
}

interface Ordering {
  readonly payment: Payment;
  readonly offer: RelayOffer;
  readonly number: number;
  readonly checked: Checked;
  /** The refusal of an authorization that has not moved the money already. */
  readonly unlessMoved: RelayRefusal | undefined;
  /** The payment as it is stored, created if it was not. */
  readonly create: (by: By) => Promise<Payment | Refusal>;
}

/** More than it costs now, so that the first transaction is sent when gas is somewhat dearer by then. */
const reserve = (cost: bigint): bigint => (cost * 3n) / 2n;

/**
 * Prices the relay by a simulation, creates the payment, reserves the relay's share of the hour's gas, and orders it. An authorization that
 * another party has sent already gets a relay that ended as superseded: nothing is sent. Crash after the payment was created: the same
 * authorization finds it. After the choice of the source: the payer pays from there. After the share was reserved: it remains reserved, and
 * the same authorization has it already. After RelayOrdered: the workers continue. Two concurrent authorizations: one is ordered, the stream
 * refuses the other.
 */
async function order(
  deps: RelayDeps,
  { payment: { terms }, offer, number, checked, unlessMoved, create }: Ordering,
  by: By,
  signal: AbortSignal,
): Promise<Accepted | RelayRefusal> {
  const { handle, clock, crash, limits } = deps;
  const { paymentId, appId } = terms;
  const { source, payTo } = offer;
  const { chainId, token, amount } = source;
  const priced = await priceOf(deps, { offer, checked, unlessMoved }, signal);
  if (isRefusal(priced)) return priced;
  const movedBy = 'movedBy' in priced ? priced.movedBy : null;
  const payment = await create(by);
  if (isRefusal(payment)) return because('unavailable', payment);
  await crash?.('relay.afterCreate');
  const id = relayIdOf(paymentId, number);
  const now = clock.now();
  const facts = { ...by, appId };
  if (!('movedBy' in priced)) {
    const reserving = {
      relay: `${id} ${checked.nonce}`,
      appId,
      payer: checked.payer,
      cost_microUsd: priced.cost_microUsd.toString(),
      reservedAt: now,
    };
    const share = await handle(relayGas, relayHourOf(now), (state) => reserveRelayGas(state, reserving, limits), facts);
    if (isRefusal(share)) return because('gas_limit', share);
    await crash?.('relay.afterReserve');
  }
  // Only a disclosed deposit's money counts.
  const chosen = payment.deposits[familyOf(source)]
    ? payment
    : await deps.chooseSource(paymentId, { chainId, tokenSymbol: token.symbol }, by, offer.deposit);
  if (isRefusal(chosen)) return because('payment_over', chosen);
  // A page may have disclosed another one meanwhile, from a stock.
  const { address, memo } = chosen.deposits[familyOf(source)] ?? {};
  if (address !== offer.deposit.address || memo !== offer.deposit.memo) return otherDeposit;
  const ordered: RelayOrdered = {
    paymentId,
    appId,
    relay: number,
    chainId,
    token,
    receiver: payTo,
    amount,
    form: formOf(offer, checked, 'movedBy' in priced ? '0' : priced.costMax.toString()),
    orderedAt: now,
  };
  // A crash before RelayOrdered loses nothing: the same authorization claims the money, and registers the payin, again.
  if (movedBy !== null) {
    const given = await deps.claimUnmatched(paymentId, { chainId, deposit: offer.deposit, txHash: movedBy }, by);
    if (given) return because('invalid_exact_evm_nonce_already_used', given);
    await deps.registerPayin({ paymentId, appId }, { txHash: movedBy, fromAddress: checked.payer }, by);
  }
  const decide = (state: RelayState) =>
    'movedBy' in priced ? orderMoved(state, ordered, { detail: priced.detail, now }) : orderRelay(state, ordered);
  const handled = await handle(relay, id, decide, facts);
  if (isRefusal(handled)) return because('duplicate_settlement', handled);
  assert(handled.state !== null, 'what was ordered is there');
  return { payment, relay: handled.state, result: relayResultOf(payment, handled.state) };
}

/** Price of the relay, or the transaction that already moved the money; a refusal if there is neither, or the relay costs too much. */
async function priceOf(
  deps: RelayDeps,
  { offer, checked, unlessMoved }: Pick<Ordering, 'offer' | 'checked' | 'unlessMoved'>,
  signal: AbortSignal,
): Promise<Priced | Moved | RelayRefusal> {
  const priced = await price(deps, { offer, checked }, signal);
  if ('movedBy' in priced) return priced;
  if (unlessMoved) return unlessMoved;
  if (isRefusal(priced)) return priced;
  const dear = refusalOfCost(priced, feeFrom_microUsd(offer.source), deps.limits);
  return dear ? because('gas_limit', dear) : priced;
}

interface Priced {
  readonly costMax: bigint;
  readonly cost_microUsd: bigint;
  /** The part of the cost that the sweep of the deposit returns. */
  readonly rent_microUsd: bigint;
}

/** The money was moved by somebody else's transaction. */
interface Moved {
  readonly movedBy: string;
  readonly detail: string;
}

async function price(
  { relayOn, priceOf }: RelayDeps,
  { offer, checked }: Pick<Ordering, 'offer' | 'checked'>,
  signal: AbortSignal,
): Promise<Priced | Moved | RelayRefusal> {
  const { chainId, token, amount } = offer.source;
  const coin = priceOf(chainId);
  const relaying = relayOn(chainId);
  assert(coin !== undefined && relaying !== undefined, 'what is offered has a relay account and a coin');
  const form = formOf(offer, checked, '0');
  const wanted = { chainId, token, receiver: offer.payTo, receiverMemo: null, amount: BigInt(amount), form };
  try {
    const { fee, rent } = await relaying.simulate(wanted as Parameters<Relaying['simulate']>[0], signal);
    const costMax = reserve(fee) + rent;
    return { costMax, cost_microUsd: coinInMicroUsd(costMax, coin), rent_microUsd: coinInMicroUsd(rent, coin) };
  } catch (error) {
    if (error instanceof PayoutBlocked && error.movedBy !== null)
      return { movedBy: error.movedBy, detail: error.message };
    if (error instanceof PayoutBlocked)
      return error.ends === null
        ? refused('gas_limit', `${chainOf(chainId).name} is too dear at present: ${error.message}`, 'relayTooDear')
        : refused(faultOf[error.ends], error.message);
    if (!(error instanceof TransientError)) throw error;
    const away = error instanceof Unavailable ? error : new Unavailable(`${chainOf(chainId).name} cannot be asked`, 5);
    return because('unavailable', refuseUnavailable(away));
  }
}
