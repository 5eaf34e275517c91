/** Orders refunds. Orders never exceed the held money: the payment's stream decides between concurrent requests. */
import type { ChainId } from '../chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { formatAmount, smaller, unitsText } from '../money.ts';
import type { Instant } from '../time.ts';
import type { PaymentEvent, TokenRef } from './events.ts';
import { confirmedFor } from './refundAddress.ts';
import type { RefundAsker } from './shapes.ts';
import { isSameAsset, sumOf } from './sources.ts';
import type { Payment, PaymentState, Refund } from './state.ts';
import { orderedBy, type Refundable, refundable, takenBy } from './state.ts';

// Refundable money by sender, and the address that its sender has proven.

export interface RefundReceiver {
  readonly address: string;
  readonly memo: string | null;
}

/** An account that has paid by signed messages before, so it belongs to a person and not to an exchange. */
export interface KnownSigner {
  readonly account: string;
  /** Chains on which a contract has signed; elsewhere its address proves nothing. */
  readonly chainIds: readonly ChainId[];
}

/** A sender's share of the refundable amount. */
export interface SenderShare {
  readonly receiver: RefundReceiver;
  readonly proof: NonNullable<Refund['request']['proof']>;
  readonly amount: bigint;
}

/**
 * Shares of senders with a proven address, the largest first. A sender's share is what they sent: a stranger who adds a cent gets at most
 * that cent.
 * @param now null if addresses that the app's people have confirmed do not count
 */
export function provenShares(
  p: Payment,
  entry: Refundable,
  signers: readonly KnownSigner[],
  now: Instant | null = null,
): readonly SenderShare[] {
  const senders = new Set(p.payins.map(({ transfer }) => transfer.from));
  const shares = [...senders].flatMap((sender) => {
    const proven = provenReceiver(p, entry, sender, signers, now);
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
  /** Proven address of the sender; null if there is none. */
  readonly receiver: RefundReceiver | null;
  /** A transfer of the sender on that chain. */
  readonly transferId: string;
}

/** Owners of refundable money, and their addresses. */
export const ownersOf = (
  p: Payment,
  signers: readonly KnownSigner[] = [],
  now: Instant | null = null,
): readonly OwnMoney[] =>
  refundable(p).flatMap((entry) =>
    [...new Set(p.payins.map(({ transfer }) => transfer.from))].flatMap((sender) => {
      const amount = ownPart(p, entry, sender);
      const from = p.payins.find(({ transfer }) => transfer.from === sender && transfer.chainId === entry.chainId);
      if (!from || amount <= 0n) return [];
      const receiver = provenReceiver(p, entry, sender, signers, now)?.receiver ?? null;
      const { chainId, token } = entry;
      return [{ sender, chainId, tokenAddress: token.address, amount, receiver, transferId: from.id }];
    }),
  );

/**
 * A signed address takes precedence over the paying account. It is valid on the chain that was signed for: elsewhere a contract's address
 * may have another owner. The account of a signer's own key is theirs on every chain that they paid on. An address that the app has confirmed
 * counts after its delay, and only while the sender has proven none.
 * @param now null if confirmed addresses do not count
 */
export function provenReceiver(
  p: Payment,
  { chainId }: Pick<Refundable, 'chainId'>,
  sender: string,
  signers: readonly KnownSigner[],
  now: Instant | null,
): Omit<SenderShare, 'amount'> | undefined {
  const own = p.refundAddresses.filter(({ proof }) => proof?.sender === sender);
  const set =
    own.findLast(({ proof }) => p.payins.some((payin) => isOn(payin, chainId) && payin.id === proof?.transferId)) ??
    own.findLast(({ proof, address }) => proof?.by === 'key' && address === sender);
  if (set) return { receiver: { address: set.address, memo: set.memo }, proof: { sender, by: 'signature' } };
  const signer = signers.find(({ account, chainIds }) => account === sender && chainIds.includes(chainId));
  if (signer) return { receiver: { address: sender, memo: null }, proof: { sender, by: 'credit' } };
  const confirmed = now === null ? undefined : confirmedFor(p, sender, chainId);
  if (!confirmed || now === null || now < confirmed.effectiveAt) return undefined;
  return { receiver: { address: confirmed.address, memo: confirmed.memo }, proof: { sender, by: 'merchant' } };
}

const isOn = ({ transfer }: Payment['payins'][number], chainId: ChainId): boolean => transfer.chainId === chainId;

/** Amount that the sender paid of the entry's money, less their refunds. */
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
 * An operator may have refunded to any address. A refund to a sender counts as that sender's, up to what they sent. The owner of any other
 * refund is unknown, so nobody gets that amount again automatically.
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

/** Maximum refunds of one payment. */
export const refundsMax = 100;

/** An amount of one token in smallest units, including its network fee. */
export interface RefundPart {
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  readonly amount: bigint;
}

export interface RefundOrder {
  readonly scope: 'all' | 'excess' | RefundPart;
  /** proven: to the senders, at the addresses that they have proven or that the app has confirmed. */
  readonly to: RefundReceiver | 'proven';
  readonly signers: readonly KnownSigner[];
  readonly by: RefundAsker;
  readonly note: string | null;
  /** Idempotency key: orders once. */
  readonly key: string | null;
}

/** Refund to one receiver before its network fee is known. */
export interface PlannedRefund extends Refundable {
  readonly receiver: RefundReceiver;
  readonly proof: SenderShare['proof'] | null;
}

/** Cost of sending a refund. */
export interface SendingCost {
  /** In the smallest units of its token. */
  readonly networkFee: bigint;
  /** True if the fee includes opening the receiver's account for the token; omitted if none is needed. */
  readonly opensAccount?: boolean;
}

/** Undefined if the cost is unknown. */
export type CostOf = (planned: PlannedRefund) => SendingCost | undefined;

/** Refunds that follow from the order in the payment's current state. The app's policy alone never uses a confirmed address. */
export function planRefunds(p: Payment, order: RefundOrder, now: Instant): readonly PlannedRefund[] | Refusal {
  const wanted = wantedOf(p, order.scope);
  if (isRefusal(wanted)) return wanted;
  const { to } = order;
  if (to !== 'proven') return wanted.map((entry) => ({ ...entry, receiver: to, proof: null }));
  const planned = wanted.flatMap((entry) =>
    split(entry, provenShares(p, entry, order.signers, order.by === 'policy' ? null : now)),
  );
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

/** JSON pointer of the whole request. */
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

/** Gives each share its amount until the entry is used up. */
function split(entry: Refundable, shares: readonly SenderShare[]): readonly PlannedRefund[] {
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

/** Orders the planned refunds. Skips refunds below their own cost if others remain. A repeated request orders nothing. */
export function requestRefunds(
  p: PaymentState,
  order: RefundOrder,
  costOf: CostOf,
  now: Instant,
): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const former = formerOf(p, order);
  if (former) return former;
  const planned = planRefunds(p, order, now);
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

/** Looks up an earlier request with this key: nothing new, or a refusal if the two differ. */
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

// Quote of refunds before an order. Amounts in smallest units.

/** Refundable money. */
export interface RefundableMoney extends Refundable {
  /** Part that can be refunded without the operator: its senders have proven addresses. */
  readonly proven: bigint;
  /** Network fee of one refund; null if it is unknown. */
  readonly networkFee: bigint | null;
  readonly owners: readonly OwnMoney[];
}

/** Amount to send, and its network fee. */
export interface PricedRefund extends PlannedRefund {
  readonly networkFee: bigint;
}
