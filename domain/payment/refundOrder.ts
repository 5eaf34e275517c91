/** Ordering refunds. What is ordered never exceeds what is held: the payment's stream decides, however many ask at once. */
import type { ChainId } from '../chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { formatAmount, smaller, unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import type { PaymentEvent, TokenRef } from './events.ts';
import { orderedBy, type Refundable, refundable, takenBy } from './refund.ts';
import type { RefundAsker } from './refundShapes.ts';
import { isSameAsset, sumOf } from './sources.ts';
import type { Payment, PaymentState, Refund } from './state.ts';

// Whose the money is that can go back, and to where its sender has proven that it may go without an operator's word.

export interface Receiver {
  readonly address: string;
  readonly memo: string | null;
}

/** An account that has paid by signed messages before: it is somebody's own, and no exchange's. */
export interface KnownSigner {
  readonly account: string;
  /** A contract has signed for itself on these chains alone. */
  readonly chainIds: readonly ChainId[];
}

/** So much of what can go back is one sender's. */
export interface Share {
  readonly receiver: Receiver;
  readonly proof: NonNullable<Refund['request']['proof']>;
  readonly amount: bigint;
}

/**
 * The shares of those who have proven an address, the largest first. A sender's share is what he sent himself: whoever adds a cent of his
 * own to a stranger's payment gets no more than that cent.
 */
export function provenShares(p: Payment, entry: Refundable, signers: readonly KnownSigner[]): readonly Share[] {
  const senders = new Set(p.payins.map(({ transfer }) => transfer.from));
  const shares = [...senders].flatMap((sender) => {
    const proven = provenBy(p, entry, sender, signers);
    const amount = proven ? ownPart(p, entry, sender) : 0n;
    return proven && amount > 0n ? [{ ...proven, amount }] : [];
  });
  return shares.toSorted((a, b) => (b.amount > a.amount ? 1 : -1));
}

/** One sender's part of what can go back in one token. */
export interface OwnMoney {
  readonly sender: string;
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  readonly amount: bigint;
  /** Where he has proven that it goes; null where he has not. */
  readonly receiver: Receiver | null;
  /** A transfer of his on that chain. */
  readonly transferId: string;
}

/** Whose money can go back, and to where. */
export const ownersOf = (p: Payment, signers: readonly KnownSigner[] = []): readonly OwnMoney[] =>
  refundable(p).flatMap((entry) =>
    [...new Set(p.payins.map(({ transfer }) => transfer.from))].flatMap((sender) => {
      const amount = ownPart(p, entry, sender);
      const from = p.payins.find(({ transfer }) => transfer.from === sender && transfer.chainId === entry.chainId);
      if (!from || amount <= 0n) return [];
      const receiver = provenBy(p, entry, sender, signers)?.receiver ?? null;
      const { chainId, token } = entry;
      return [{ sender, chainId, tokenAddress: token.address, amount, receiver, transferId: from.id }];
    }),
  );

/**
 * What he signed for goes before the account that he has paid from. It holds on the chain that he signed for: elsewhere the same address may
 * be another's, where it is a contract's. The account of his own key is his on every chain that he paid on.
 */
function provenBy(
  p: Payment,
  { chainId }: Pick<Refundable, 'chainId'>,
  sender: string,
  signers: readonly KnownSigner[],
): Omit<Share, 'amount'> | undefined {
  const own = p.refundAddresses.filter(({ proof }) => proof?.sender === sender);
  const set =
    own.findLast(({ proof }) => p.payins.some((payin) => isOn(payin, chainId) && payin.id === proof?.transferId)) ??
    own.findLast(({ proof, address }) => proof?.by === 'key' && address === sender);
  if (set) return { receiver: { address: set.address, memo: set.memo }, proof: { sender, by: 'signature' } };
  const signer = signers.find(({ account, chainIds }) => account === sender && chainIds.includes(chainId));
  return signer && { receiver: { address: sender, memo: null }, proof: { sender, by: 'credit' } };
}

const isOn = ({ transfer }: Payment['payins'][number], chainId: ChainId): boolean => transfer.chainId === chainId;

/** What the sender has sent of the entry's money, less what went back to him. */
const ownPart = (p: Payment, entry: Refundable, sender: string): bigint =>
  sentBy(p, entry, sender) - backTo(p, entry, sender);

function sentBy(p: Payment, entry: Refundable, sender: string): bigint {
  const own = p.payins.filter(
    ({ transfer, phase }) => transfer.from === sender && phase === 'confirmed' && isSameAsset(transfer, entry),
  );
  const paidOut = p.funded !== null && p.closed?.kind !== 'bounced';
  const counted = own.filter(({ standing }) => standing === 'counted');
  const excess = paidOut ? smaller(p.funded?.excess ?? 0n, sumOf(counted)) : 0n;
  const held = p.closed?.kind === 'bounced' ? own : own.filter(({ standing }) => standing !== 'counted');
  return excess + sumOf(held);
}

/**
 * An operator may have sent it to any address. What he sent to a sender is that sender's, up to what he has sent; of all else nothing tells
 * whose it was: nobody gets as much again by himself, for it could be another's.
 */
function backTo(p: Payment, entry: Refundable, sender: string): bigint {
  const back = p.refunds.filter(({ order }) => isSameAsset(order, entry));
  const proven = back.filter(({ request }) => request.proof?.sender === sender);
  const unproven = Map.groupBy(
    back.filter(({ request }) => !request.proof),
    ({ order }) => order.receiver,
  );
  const his = [...unproven].map(([receiver, refunds]) => {
    const taken = takenByAll(refunds);
    return receiver === sender ? taken : taken - smaller(taken, sentBy(p, entry, receiver));
  });
  return his.reduce((sum, amount) => sum + amount, takenByAll(proven));
}

const takenByAll = (refunds: readonly Refund[]): bigint => refunds.reduce((sum, refund) => sum + takenBy(refund), 0n);

/** Of one payment. */
export const refundsMax = 100;

/** An amount of one token, in its smallest units, with what sending it costs. */
export interface Part {
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  readonly amount: bigint;
}

export interface RefundOrder {
  readonly scope: 'all' | 'excess' | Part;
  /** proven: to those who sent it, where their keys have said where to. */
  readonly to: Receiver | 'proven';
  readonly signers: readonly KnownSigner[];
  readonly by: RefundAsker;
  readonly note: string | null;
  /** The same key orders once. */
  readonly key: string | null;
}

/** Money that is to go back to one receiver, before it is known what sending it costs. */
export interface PlannedRefund extends Refundable {
  readonly receiver: Receiver;
  readonly proof: Share['proof'] | null;
}

/** What sending money back costs. */
export interface SendingCost {
  /** In the smallest units of its token. */
  readonly networkFee: bigint;
  /** Whether that is also for the receiver's account for the token, which does not exist; left out where none is needed. */
  readonly opensAccount?: boolean;
}

/** Undefined where it is not known. */
export type CostOf = (planned: PlannedRefund) => SendingCost | undefined;

/** What the order comes to as the payment stands. */
export function planRefunds(p: Payment, order: RefundOrder): readonly PlannedRefund[] | Refusal {
  const wanted = wantedOf(p, order.scope);
  if (isRefusal(wanted)) return wanted;
  const { to } = order;
  if (to !== 'proven') return wanted.map((entry) => ({ ...entry, receiver: to, proof: null }));
  const planned = wanted.flatMap((entry) => split(entry, provenShares(p, entry, order.signers)));
  const short = typeof order.scope === 'object' && sum(planned) < order.scope.amount;
  return planned.length === 0 || short ? unproven(planned) : planned;
}

function wantedOf(p: Payment, scope: RefundOrder['scope']): readonly Refundable[] | Refusal {
  const held = refundable(p);
  if (scope === 'all') return held.length > 0 ? held : nothingHeld;
  if (scope === 'excess') {
    const paid = p.funded !== null && p.closed === null;
    const over = paid ? held.filter((entry) => isSameAsset(entry, p.terms.source)) : [];
    return over.length > 0 ? over : refuse('refundExceedsHeld', 'no excess is held: list the held money', '/scope');
  }
  const { chainId, tokenAddress: address, amount } = scope;
  const entry = held.find((each) => isSameAsset(each, { chainId, token: { address } }));
  if (!entry)
    return held.length > 0
      ? refuse('refundExceedsHeld', 'nothing is held in this token', '/tokenAddress')
      : nothingHeld;
  if (amount <= entry.amount) return [{ ...entry, amount }];
  return refuse('refundExceedsHeld', `at most ${text(entry.amount, entry.token)} is refundable`, '/amount');
}

/** A pointer at the request as a whole. */
const whole = '';

const nothingHeld = refuse(
  'refundExceedsHeld',
  'nothing is held of this payment that has not been ordered back',
  whole,
);

const unproven = (proven: readonly Refundable[]): Refusal => {
  const [first] = proven;
  const part = first
    ? `only ${text(sum(proven), first.token)} of it has a proven address`
    : 'nobody has proven where this money goes back to';
  return refuse(
    'refundAddressUnproven',
    `${part}: send the payer the payment’s page, where he gives an address and signs with the key that paid, or ask the operator; the sender may be an exchange`,
    whole,
  );
};

/** Each share's own, until the entry is used up. */
function split(entry: Refundable, shares: readonly Share[]): readonly PlannedRefund[] {
  let left = entry.amount;
  return shares.flatMap(({ receiver, proof, amount }) => {
    const own = smaller(left, amount);
    left -= own;
    return own > 0n ? [{ ...entry, receiver, proof, amount: own }] : [];
  });
}

const sum = (entries: readonly Pick<Refundable, 'amount'>[]): bigint =>
  entries.reduce((total, { amount }) => total + amount, 0n);

const text = (amount: bigint, { symbol, decimals }: TokenRef): string => `${formatAmount(amount, decimals)} ${symbol}`;

/** Orders what the order comes to. What does not cover its own cost is left where other money does. A repeated request orders nothing. */
export function requestRefunds(
  p: PaymentState,
  order: RefundOrder,
  costOf: CostOf,
  now: Instant,
): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const former = formerOf(p, order);
  if (former) return former;
  const planned = planRefunds(p, order);
  if (isRefusal(planned)) return planned;
  if (p.refunds.length + planned.length > refundsMax)
    return refuse('conflict', `a payment has at most ${refundsMax} refunds: refund the rest in one`, whole);
  const priced = planned.map((each) => ({ ...each, cost: costOf(each) }));
  if (priced.some(({ cost }) => cost === undefined))
    return refuse('unavailable', 'the held money has changed: try again');
  const worth = priced.filter(({ amount, cost = free }) => amount > cost.networkFee);
  const [small] = priced.filter((each) => !worth.includes(each));
  if (small && (worth.length === 0 || typeof order.scope === 'object')) return tooSmall(small, small.cost ?? free);
  return worth.map(({ cost = free, ...each }, index) =>
    requested(each, cost, order, p.refunds.length + index + 1, now),
  );
}

const free: SendingCost = { networkFee: 0n };

const tooSmall = ({ amount, token }: PlannedRefund, { networkFee }: SendingCost): Refusal =>
  refuse(
    'refundTooSmall',
    `${text(amount, token)} would not cover what sending it costs, ${text(networkFee, token)}: it stays where it is`,
    '/amount',
  );

function requested(
  { reason, chainId, token, amount, receiver, proof }: PlannedRefund,
  { networkFee, opensAccount }: SendingCost,
  { scope, by, key, note }: RefundOrder,
  refund: number,
  now: Instant,
): PaymentEvent {
  return {
    type: 'RefundRequested',
    data: {
      refund,
      reason,
      chainId,
      token,
      receiverAddress: receiver.address,
      receiverMemo: receiver.memo,
      amount: unitsText(amount - networkFee),
      networkFee: unitsText(networkFee),
      ...(opensAccount !== undefined && { opensAccount }),
      requestedAt: now,
      scope: scopeName(scope),
      requestedBy: by,
      ...(key !== null && { requestKey: key }),
      ...(note !== null && { note }),
      ...(proof && { proof }),
    },
  };
}

const scopeName = (scope: RefundOrder['scope']) => (typeof scope === 'object' ? 'part' : scope);

/** What a request with this key has ordered: nothing new, or a refusal where it asked for something else. */
function formerOf({ refunds }: Payment, order: RefundOrder): Decision<PaymentEvent> | undefined {
  const former = refunds.filter(({ request }) => order.key !== null && request.requestKey === order.key);
  if (former.length === 0) return undefined;
  return former.every((refund) => isOf(refund, order)) && amountFits(former, order.scope)
    ? []
    : refuse('orderConflict', 'this idempotency key was used for another refund: use a new key', '/idempotencyKey');
}

const isOf = ({ request, order }: Refund, { scope, to, by }: RefundOrder): boolean =>
  request.scope === scopeName(scope) &&
  request.requestedBy === by &&
  (to === 'proven' ? request.proof !== undefined : to.address === order.receiver && to.memo === order.receiverMemo);

const amountFits = (former: readonly Refund[], scope: RefundOrder['scope']): boolean =>
  typeof scope !== 'object' ||
  (former.every(({ order }) => isSameAsset(order, { ...scope, token: { address: scope.tokenAddress } })) &&
    former.reduce((total, refund) => total + orderedBy(refund), 0n) === scope.amount);
