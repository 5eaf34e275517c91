/** The state of a payment: its terms and three legs (payins, payout, refunds), folded from its events. */

import type { Decider } from '../decider.ts';
import { InvariantBroken } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { BounceCode, PaymentCreated, PaymentEvent, PaymentEventData, Transfer } from './events.ts';
import { transferId } from './events.ts';
import { died, newLeg, settle, signed, type TransferLeg, unsettle } from './transfer.ts';

/** Why a transfer counts towards the payment, or is only held for a refund. */
export type Standing = 'counted' | 'late' | 'surplus' | 'wrongToken' | 'wrongChain';

export interface Payin {
  readonly id: string;
  readonly transfer: Transfer;
  readonly amount: bigint;
  readonly standing: Standing;
  readonly phase: 'detected' | 'confirmed' | 'orphaned' | 'lost';
}

export interface Funding {
  readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
  readonly transferIds: readonly string[];
  readonly received: bigint;
  readonly sourceAmount: bigint;
  readonly fee: bigint;
  readonly excess: bigint;
  readonly dust: bigint;
  readonly payout: bigint;
  readonly fundedAt: Instant;
}

export type Closure =
  | { readonly kind: 'expired'; readonly at: Instant }
  | { readonly kind: 'bounced'; readonly code: BounceCode; readonly at: Instant };

export interface Refund extends TransferLeg {
  readonly refund: number;
  readonly reason: PaymentEventData<'RefundRequested'>['reason'];
}

export interface Payment {
  readonly terms: PaymentCreated;
  /** The last hint where the payin is to be looked for, and how many there were. */
  readonly registered: { readonly txHash: string; readonly senderAddress: string } | null;
  readonly registrations: number;
  readonly payins: readonly Payin[];
  readonly funded: Funding | null;
  readonly payout: TransferLeg | null;
  readonly refundAddress: { readonly address: string; readonly memo: string | null } | null;
  readonly refunds: readonly Refund[];
  readonly closed: Closure | null;
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
  return (
    evolvePayin(state, event) ??
    evolvePayout(state, event) ??
    evolveClosing(state, event) ??
    evolveRefund(state, event) ??
    state
  );
}

const newPayment = (terms: PaymentCreated): Payment => ({
  terms,
  registered: null,
  registrations: 0,
  payins: [],
  funded: null,
  payout: null,
  refundAddress: null,
  refunds: [],
  closed: null,
});

function evolvePayin(p: Payment, event: PaymentEvent): Payment | undefined {
  switch (event.type) {
    case 'PayinRegistered': {
      const { txHash, senderAddress } = event.data;
      return { ...p, registered: { txHash, senderAddress }, registrations: p.registrations + 1 };
    }
    case 'PayinDetected':
      return { ...p, payins: withPayin(p, event.data.transfer, 'detected') };
    case 'PayinConfirmed':
      return { ...p, payins: withPayin(p, event.data.transfer, 'confirmed') };
    case 'PayinOrphaned':
      return { ...p, payins: withPhase(p.payins, event.data.transferId, 'orphaned') };
    case 'PayinLost':
      return { ...p, payins: withPhase(p.payins, event.data.transferId, 'lost') };
    case 'PaymentFunded':
      return { ...p, funded: fundingOf(event.data), payins: withSurplus(p.payins, event.data.transferIds) };
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
    case 'PayoutSigned':
      return { ...p, payout: signed(ordered(p), event.data) };
    case 'PayoutDied':
      return { ...p, payout: died(ordered(p), event.data.attempt, event.data.proof) };
    case 'PayoutOrphaned':
      return { ...p, payout: unsettle(ordered(p)) };
    case 'PayoutConfirmed':
      return { ...p, payout: settle(ordered(p), event.data) };
    default:
      return undefined;
  }
}

function evolveClosing(p: Payment, event: PaymentEvent): Payment | undefined {
  switch (event.type) {
    case 'PaymentExpired':
      return { ...p, closed: { kind: 'expired', at: event.data.expiredAt } };
    case 'PaymentBounced':
      return { ...p, closed: { kind: 'bounced', code: event.data.code, at: event.data.bouncedAt } };
    default:
      return undefined;
  }
}

function evolveRefund(p: Payment, event: PaymentEvent): Payment | undefined {
  const change = (refund: number, next: (leg: TransferLeg) => TransferLeg): Payment => ({
    ...p,
    refunds: p.refunds.map((leg) => (leg.refund === refund ? { ...leg, ...next(leg) } : leg)),
  });
  switch (event.type) {
    case 'RefundAddressSet':
      return { ...p, refundAddress: { address: event.data.address, memo: event.data.memo } };
    case 'RefundRequested': {
      const { refund, reason, chainId, token, receiverAddress: receiver, receiverMemo, amount } = event.data;
      const leg = newLeg({ chainId, token, receiver, receiverMemo, amount: BigInt(amount) });
      return { ...p, refunds: [...p.refunds, { ...leg, refund, reason }] };
    }
    case 'RefundSigned':
      return change(event.data.refund, (leg) => signed(leg, event.data));
    case 'RefundDied':
      return change(event.data.refund, (leg) => died(leg, event.data.attempt, event.data.proof));
    case 'RefundConfirmed':
      return change(event.data.refund, (leg) => settle(leg, event.data));
    default:
      return undefined;
  }
}

function ordered(p: Payment): TransferLeg {
  if (!p.payout) throw new InvariantBroken('a payout attempt before PayoutRequested');
  return p.payout;
}

/** A transfer seen again replaces what was known of it: its block may be another one. */
function withPayin(p: Payment, transfer: Transfer, phase: Payin['phase']): readonly Payin[] {
  const id = transferId(transfer);
  const payin: Payin = { id, transfer, amount: BigInt(transfer.amount), standing: standingOf(p, transfer), phase };
  return p.payins.some((known) => known.id === id)
    ? p.payins.map((known) => (known.id === id ? payin : known))
    : [...p.payins, payin];
}

const withPhase = (payins: readonly Payin[], id: string, phase: Payin['phase']): readonly Payin[] =>
  payins.map((payin) => (payin.id === id ? { ...payin, phase } : payin));

/** Once a payment is funded, what did not fund it is held, however it was seen before. */
const withSurplus = (payins: readonly Payin[], funding: readonly string[]): readonly Payin[] =>
  payins.map((payin) =>
    payin.standing === 'counted' && !funding.includes(payin.id) ? { ...payin, standing: 'surplus' } : payin,
  );

/** Whether a transfer counts. On time is what the chain's clock says, not ours. */
export function standingOf(p: Payment, transfer: Transfer): Standing {
  const { source, expiresAt } = p.terms;
  if (transfer.chainId !== source.chainId) return 'wrongChain';
  if (transfer.token.address !== source.token.address) return 'wrongToken';
  if (p.funded) return p.funded.transferIds.includes(transferId(transfer)) ? 'counted' : 'surplus';
  if (p.closed) return p.closed.kind === 'bounced' ? 'surplus' : 'late';
  return transfer.blockTime <= expiresAt ? 'counted' : 'late';
}

/** Payins that count and are on the chain as far as is known. */
export const counted = (p: Payment): readonly Payin[] =>
  p.payins.filter(
    (payin) => payin.standing === 'counted' && (payin.phase === 'detected' || payin.phase === 'confirmed'),
  );

/** Whether a payin that funded the payment is not on its chain at present. */
export const lostFunding = (p: Payment): boolean =>
  p.payins.some(({ id, phase }) => phase === 'lost' && p.funded?.transferIds.includes(id));

export const sumOf = (payins: readonly Payin[]): bigint => payins.reduce((sum, payin) => sum + payin.amount, 0n);

function fundingOf(data: PaymentEventData<'PaymentFunded'>): Funding {
  const { rule, transferIds, fundedAt } = data;
  const [received, sourceAmount, fee, excess, dust, payout] = [
    data.received,
    data.sourceAmount,
    data.fee,
    data.excess,
    data.dust,
    data.payout,
  ].map(BigInt) as [bigint, bigint, bigint, bigint, bigint, bigint];
  return { rule, transferIds, received, sourceAmount, fee, excess, dust, payout, fundedAt: fundedAt };
}
