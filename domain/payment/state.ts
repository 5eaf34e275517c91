/** State of a payment: terms and three legs (payins, payout, refunds), folded from its events. */
import type { ChainId } from '../chains.ts';
import { type Decider, InvariantBroken } from '../decider.ts';
import type { Instant } from '../time.ts';
import { newLeg, type TransferLeg } from '../transfer/leg.ts';
import { evolveLeg, unprefixed } from '../transfer/record.ts';
import {
  type PaymentCreated,
  type PaymentEvent,
  type PaymentEventData,
  type TokenRef,
  type Transfer,
  transferId,
} from './events.ts';
import type { AddressProof } from './shapes.ts';
import {
  type Asset,
  type Funding,
  familyOf,
  fundingOf,
  type Paid,
  type Payin,
  paidFrom,
  type Source,
  sourceInForce,
  sourceOf,
  sourcesOf,
  standingOf,
  sumOf,
  toleratedOf,
} from './sources.ts';

// Known payins of a payment: detected, moved, orphaned or funding it.

/** A repeated detection replaces the known transfer, whose block may have changed. */
export function withPayin(p: Paid, transfer: Transfer, phase: Payin['phase']): readonly Payin[] {
  const id = transferId(transfer);
  const seen = { id, transfer, amount: BigInt(transfer.amount), standing: standingOf(p, transfer), phase };
  return p.payins.some((known) => known.id === id)
    ? p.payins.map((known) => (known.id === id ? { ...seen, moves: known.moves } : known))
    : [...p.payins, { ...seen, moves: 0 }];
}

export const withPhase = (payins: readonly Payin[], id: string, phase: Payin['phase']): readonly Payin[] =>
  payins.map((payin) => (payin.id === id ? { ...payin, phase } : payin));

export const orphaned = (payins: readonly Payin[], id: string): readonly Payin[] =>
  withPhase(payins, id, 'orphaned').map((payin) => (payin.id === id ? { ...payin, moves: payin.moves + 1 } : payin));

/** After funding, only the funding money counts and other counted money is held: the log decides, whatever today's rule says. */
export const withSurplus = (payins: readonly Payin[], funding: readonly string[]): readonly Payin[] =>
  payins.map((payin) => {
    if (funding.includes(payin.id)) return { ...payin, standing: 'counted' };
    return payin.standing === 'counted' ? { ...payin, standing: 'surplus' } : payin;
  });

export interface Refund extends TransferLeg<TokenRef> {
  readonly refund: number;
  readonly reason: Requested['reason'];
  /** Deducted for sending, in the order's token. */
  readonly networkFee: bigint;
  readonly requestedAt: Instant;
  /** Reason of an operator's call-off; null while the refund is in force. */
  readonly calledOff: string | null;
  readonly request: Pick<Requested, 'scope' | 'requestedBy' | 'requestKey' | 'note' | 'proof' | 'opensAccount'>;
}

type Requested = PaymentEventData<'RefundRequested'>;

/** Address for refunds to one sender. */
export interface RefundAddress {
  readonly address: string;
  readonly memo: string | null;
  /** Sender and proof; null without a proof: then nothing is refunded there automatically. */
  readonly proof: AddressProof | null;
  /** Sequence number in the payment, and among the sender's addresses. */
  readonly ordinal: number;
  readonly times: number;
}

/** Refund address that a person of the app has confirmed. */
export interface ConfirmedAddress extends PaymentEventData<'RefundAddressConfirmed'> {
  readonly withdrawn: boolean;
}

/** Refund of money that was paid out. */
export interface FundedRefund extends Omit<PaymentEventData<'FundedRefundOrdered'>, 'amount'> {
  /** In the smallest units of its token: what the receiver gets. */
  readonly amount: bigint;
  /** Null while the funding payment can still pay it. */
  readonly ended: { readonly outcome: PaymentEventData<'FundedRefundEnded'>['outcome']; readonly at: Instant } | null;
}

export type PolicyApplied = PaymentEventData<'PolicyApplied'>;

export interface Payment extends Paid {
  /** Number of the payer's choices. */
  readonly choices: number;
  /** The latest hint about the payin, and the number of hints. */
  /** Transaction that was registered as the payin. `isEmpty`: it transfers no accepted token to the payment. */
  readonly registered: { readonly txHash: string; readonly senderAddress: string; readonly isEmpty: boolean } | null;
  readonly registrations: number;
  readonly payout: TransferLeg<TokenRef> | null;
  /** Reason of an operator's hold on the payout. */
  readonly payoutHeld: string | null;
  /** Batch of the payout, and its position among the members; null while it is paid alone. */
  readonly batch: { readonly id: string; readonly position: number } | null;
  /** True if it was ever in a batch: it joins no other. */
  readonly wasBatched: boolean;
  /** Latest address of each sender on each chain, in the order of setting. */
  readonly refundAddresses: readonly RefundAddress[];
  /** Number of addresses that were ever set. */
  readonly refundAddressesSet: number;
  readonly refunds: readonly Refund[];
  /** Addresses that people of the app have confirmed, in their order. */
  readonly confirmedAddresses: readonly ConfirmedAddress[];
  /** Refunds of money that was paid out, each funded by another payment. */
  readonly fundedRefunds: readonly FundedRefund[];
  /** Decisions of the app's policy on wrong money that are still in force. */
  readonly applied: readonly PolicyApplied[];
  /** When the app ended the time to pay early; `terms.expiresAt` is that end. */
  readonly cancelledAt: Instant | null;
  /** Note and tags of the app's people, and the number of changes. */
  readonly annotation: Pick<PaymentEventData<'PaymentAnnotated'>, 'note' | 'tags'> & { readonly changes: number };
}

/** `null` before the payment is created. */
export type PaymentState = Payment | null;

export const paymentDecider: Decider<PaymentState, PaymentEvent> = { category: 'payment', initial: null, evolve };

export function evolve(state: PaymentState, event: PaymentEvent): PaymentState {
  if (event.type === 'PaymentCreated') {
    if (state) throw new InvariantBroken(`payment ${event.data.paymentId} is created twice`);
    return newPayment(event.data);
  }
  if (!state) throw new InvariantBroken(`${event.type} before PaymentCreated`);
  const next =
    evolvePayin(state, event) ??
    evolvePayout(state, event) ??
    evolveClosing(state, event) ??
    evolveRefund(state, event) ??
    state;
  return paidFrom(next, sourceInForce(next));
}

const newPayment = (terms: PaymentCreated): Payment => ({
  terms,
  sources: sourcesOf(terms),
  tolerated: toleratedOf(terms),
  deposits: { [familyOf(terms.source)]: terms.deposit },
  chosen: sourcesOf(terms)[0],
  choices: 0,
  registered: null,
  registrations: 0,
  payins: [],
  funded: null,
  payout: null,
  payoutHeld: null,
  batch: null,
  wasBatched: false,
  refundAddresses: [],
  refundAddressesSet: 0,
  refunds: [],
  confirmedAddresses: [],
  fundedRefunds: [],
  closed: null,
  applied: [],
  cancelledAt: null,
  annotation: { note: null, tags: [], changes: 0 },
});

function evolvePayin(p: Payment, event: PaymentEvent): Payment | undefined {
  switch (event.type) {
    case 'SourceChosen': {
      const { chainId, tokenAddress, deposit } = event.data;
      const deposits = { ...p.deposits, [familyOf({ chainId })]: deposit };
      return { ...p, deposits, chosen: namedSource(p, { chainId, tokenAddress }), choices: p.choices + 1 };
    }
    case 'PayinRegistered': {
      const { txHash, senderAddress } = event.data;
      return { ...p, registered: { txHash, senderAddress, isEmpty: false }, registrations: p.registrations + 1 };
    }
    case 'RegisteredPayinEmpty':
      return p.registered?.txHash === event.data.txHash ? { ...p, registered: { ...p.registered, isEmpty: true } } : p;
    case 'PayinDetected':
      return { ...p, payins: withPayin(p, event.data.transfer, 'detected') };
    case 'PayinConfirmed':
      return { ...p, payins: withPayin(p, event.data.transfer, 'confirmed') };
    case 'PayinOrphaned':
      return { ...p, payins: orphaned(p.payins, event.data.transferId) };
    case 'PayinLost':
      return { ...p, payins: withPhase(p.payins, event.data.transferId, 'lost') };
    case 'PaymentFunded': {
      const { transferIds, source } = event.data;
      const chosen = source ? namedSource(p, source) : p.sources[0];
      const payins = withSurplus(p.payins, transferIds);
      return { ...p, chosen, funded: fundingOf(event.data), payins, applied: unspent(p, transferIds), closed: null };
    }
    case 'PolicyApplied':
      return { ...p, applied: [...p.applied.filter((former) => !isAbout(former, event.data)), event.data] };
    default:
      return undefined;
  }
}

function evolvePayout(p: Payment, event: PaymentEvent): Payment | undefined {
  switch (event.type) {
    case 'PayoutRequested': {
      const { chainId, token, receiverAddress: receiver, receiverMemo, amount } = event.data;
      return { ...p, payout: newLeg({ chainId, token, receiver, receiverMemo, amount: BigInt(amount) }) };
    }
    case 'PayoutBatched':
      return { ...p, batch: { id: event.data.batch, position: event.data.position }, wasBatched: true };
    case 'PayoutReleased':
      return { ...p, batch: null };
    case 'PayoutHeld':
      return { ...p, payoutHeld: event.data.reason };
    case 'PayoutRetried':
      return { ...p, payoutHeld: null, payout: p.payout && evolveLeg(p.payout, { ...event, type: 'Retried' }) };
    default: {
      const recorded = unprefixed('Payout', event);
      return recorded && { ...p, payout: evolveLeg(ordered(p), recorded) };
    }
  }
}

function evolveClosing(p: Payment, event: PaymentEvent): Payment | undefined {
  switch (event.type) {
    case 'PaymentCancelled': {
      const { expiresAt, cancelledAt } = event.data;
      return { ...p, terms: { ...p.terms, expiresAt }, cancelledAt };
    }
    case 'PaymentAnnotated': {
      const { note, tags } = event.data;
      return { ...p, annotation: { note, tags, changes: p.annotation.changes + 1 } };
    }
    case 'PaymentExpired':
      return { ...p, closed: { kind: 'expired', at: event.data.expiredAt } };
    case 'PaymentBounced': {
      const { code, asset, bouncedAt: at } = event.data;
      return { ...p, chosen: bouncedSource(p, asset), closed: { kind: 'bounced', code, at } };
    }
    default:
      return undefined;
  }
}

function evolveRefund(p: Payment, event: PaymentEvent): Payment | undefined {
  switch (event.type) {
    case 'RefundAddressSet':
      return withRefundAddress(p, event.data);
    case 'RefundRequested':
      return { ...p, refunds: [...p.refunds, newRefund(event.data)] };
    case 'RefundAddressConfirmed':
      return { ...p, confirmedAddresses: [...p.confirmedAddresses, { ...event.data, withdrawn: false }] };
    case 'RefundAddressWithdrawn':
      return {
        ...p,
        confirmedAddresses: p.confirmedAddresses.map((each) =>
          each.number === event.data.number ? { ...each, withdrawn: true } : each,
        ),
      };
    case 'FundedRefundOrdered': {
      const { amount, ...data } = event.data;
      return { ...p, fundedRefunds: [...p.fundedRefunds, { ...data, amount: BigInt(amount), ended: null }] };
    }
    case 'FundedRefundEnded': {
      const { refund, outcome, endedAt: at } = event.data;
      const ended = { outcome, at };
      return {
        ...p,
        fundedRefunds: p.fundedRefunds.map((each) => (each.refund === refund ? { ...each, ended } : each)),
      };
    }
    case 'RefundCalledOff':
      return withRefund(p, event.data.refund, (refund) => ({ ...refund, calledOff: event.data.reason }));
    default: {
      const recorded = unprefixed('Refund', event);
      if (!recorded || !('refund' in event.data)) return undefined;
      return withRefund(p, event.data.refund, (refund) => evolveLeg(refund, recorded));
    }
  }
}

const withRefund = (p: Payment, number: number, change: (refund: Refund) => Refund): Payment => ({
  ...p,
  refunds: p.refunds.map((refund) => (refund.refund === number ? change(refund) : refund)),
});

function withRefundAddress(p: Payment, data: PaymentEventData<'RefundAddressSet'>): Payment {
  const { address, memo } = data;
  const proof = data.proof ?? null;
  const ordinal = p.refundAddressesSet + 1;
  const own = p.refundAddresses.filter((known) => known.proof?.sender === proof?.sender);
  const replaced = own.find((known) => chainIn(known.proof) === chainIn(proof));
  const set = { address, memo, proof, ordinal, times: (own.at(-1)?.times ?? 0) + 1 };
  const others = p.refundAddresses.filter((known) => known !== replaced);
  return { ...p, refundAddresses: [...others, set], refundAddressesSet: ordinal };
}

/** Chain of the proof's transfer, as transfer ids spell it. */
const chainIn = (proof: AddressProof | null): string | undefined => proof?.transferId.split(':')[0];

function newRefund({ refund, reason, chainId, token, requestedAt, networkFee = '0', ...data }: Requested): Refund {
  const { receiverAddress: receiver, receiverMemo, amount, ...request } = data;
  const leg = newLeg({ chainId, token, receiver, receiverMemo, amount: BigInt(amount) });
  return { ...leg, refund, reason, networkFee: BigInt(networkFee), requestedAt, calledOff: null, request };
}

function ordered(p: Payment): TransferLeg<TokenRef> {
  if (!p.payout) throw new InvariantBroken('a payout attempt before PayoutRequested');
  return p.payout;
}

/** Money that funds the payment after all is no longer marked for a refund. */
const unspent = ({ applied }: Payment, funding: readonly string[]): readonly PolicyApplied[] =>
  applied.filter(({ transferIds }) => !transferIds.every((id) => funding.includes(id)));

const isAbout = (a: PolicyApplied, b: PolicyApplied): boolean =>
  a.rule === b.rule && a.transferIds.join() === b.transferIds.join();

function namedSource(
  p: Payment,
  { chainId, tokenAddress: address }: { chainId: ChainId; tokenAddress: string },
): Source {
  const source = sourceOf(p, { chainId, token: { address } });
  if (!source) throw new InvariantBroken(`${address} on chain ${chainId} is no source of ${p.terms.paymentId}`);
  return source;
}

/** A bounce for money of no source changes no source. */
function bouncedSource(p: Payment, asset: Asset | undefined): Source {
  if (!asset) return p.sources[0];
  const source = sourceOf(p, asset);
  return source && p.deposits[familyOf(source)] ? source : p.chosen;
}

// Refundable and refunded money of a payment.

/** Money of a payment that no payout will use. */
export interface Refundable {
  readonly reason: Refund['reason'];
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly amount: bigint;
}

/** Remaining refundable amounts, one per chain and token, less the ordered refunds. */
export function refundable(p: Payment): readonly Refundable[] {
  const owed = new Map<string, Refundable>();
  const add = (entry: Refundable) => {
    const key = `${entry.chainId}:${entry.token.address}`;
    const known = owed.get(key);
    owed.set(key, known ? { ...known, amount: known.amount + entry.amount } : entry);
  };
  const { chainId, token } = p.terms.source;
  const bounced = p.closed?.kind === 'bounced';
  for (const payin of p.payins.filter(({ phase }) => phase === 'confirmed')) {
    if (payin.standing === 'counted' && !bounced) continue;
    const reason = bounced ? 'bounced' : 'held';
    add({ reason, chainId: payin.transfer.chainId, token: payin.transfer.token, amount: payin.amount });
  }
  if (p.funded && !bounced) add({ reason: 'excess', chainId, token, amount: leftOver(p.funded, p) });
  for (const refund of p.refunds) {
    const { chainId, token } = refund.order;
    add({ reason: refund.reason, chainId, token, amount: -takenBy(refund) });
  }
  return [...owed.values()].filter(({ amount }) => amount > 0n);
}

/**
 * Amount above the agreed one that is still on its chain. An orphaned payin reduces it first. Below zero, other held money of the same
 * token covers the payout until the payin returns or the payout is called off.
 */
function leftOver({ excess, transferIds }: Funding, p: Payment): bigint {
  return excess - sumOf(p.payins.filter(({ id, phase }) => transferIds.includes(id) && phase !== 'confirmed'));
}

/** True if all received money, less network fees, was refunded and is final. */
export const isWhollyRefunded = (p: Payment): boolean =>
  p.refunds.some(({ settled }) => settled) && !p.refunds.some(isUnderWay) && refundable(p).length === 0;

/** True if ordered and neither final nor called off. */
export const isUnderWay = ({ settled, calledOff }: Pick<Refund, 'settled' | 'calledOff'>): boolean =>
  settled === null && calledOff === null;

/** Amount that a refund takes from the held money: the sent amount and its network fee. Zero once called off. */
export const takenBy = (refund: Pick<Refund, 'order' | 'networkFee' | 'calledOff'>): bigint =>
  refund.calledOff === null ? orderedBy(refund) : 0n;

/** Amount that a refund was ordered for, whatever its outcome. */
export const orderedBy = ({ order, networkFee }: Pick<Refund, 'order' | 'networkFee'>): bigint =>
  order.amount + networkFee;
