/**
 * Sources: the chains and tokens that can pay a payment, and which of its payins count. The receiver gets the same amount from every
 * source, so each source has its own amount and fee.
 */
import { type Chain, type ChainFamily, type ChainId, chainOf, type Token } from '../chains.ts';
import { ceilTo, convert, dollarRoute, larger, smaller, unitsText, usCent, usDollar, usMillionth } from '../money.ts';
import { type Instant, minute_ms, plus } from '../time.ts';
import {
  type BounceCode,
  type Deposit,
  type PaymentCreated,
  type PaymentEventData,
  type SourceTerms,
  type TokenRef,
  type Transfer,
  transferId,
} from './events.ts';
import { agreeOut, type FeePolicy, fitsRoute, leastIn } from './fees.ts';

/** Maximum alternatives, besides the source at creation. */
export const alternativesMax = 12;

export interface Source extends SourceTerms {
  readonly senderAddress: string | null;
}

/** A token on a chain. */
export interface Asset {
  readonly chainId: ChainId;
  readonly token: Pick<TokenRef, 'address'>;
}

export const isSameAsset = (a: Asset, b: Asset): boolean =>
  a.chainId === b.chainId && a.token.address === b.token.address;

/** The first source is the one at creation. */
export type Sources = readonly [Source, ...Source[]];

export const sourcesOf = ({ source, fee, limits, alternatives = [] }: PaymentCreated): Sources => [
  { ...source, fee, limits },
  ...alternatives.map((each) => ({ ...each, senderAddress: null })),
];

/** Sources that count by the app's policy although payers are not offered them. */
export const toleratedOf = ({ policy }: PaymentCreated): readonly Source[] =>
  (policy?.tolerated ?? []).map((each) => ({ ...each, senderAddress: null }));

/** Minimum that pays: the agreed amount, or the minimum accepted. In the source's units. */
export const leastOf = ({ amount, limits }: Pick<Source, 'amount' | 'limits'>): bigint =>
  BigInt(amount ?? limits?.min ?? 0);

/** Disclosed deposits, one per chain family. */
export type Deposits = Readonly<Partial<Record<ChainFamily, Deposit>>>;

export const familyOf = ({ chainId }: Pick<Asset, 'chainId'>): ChainFamily => chainOf(chainId).family;

/** Terms of a payment with this source in force. */
export const termsFrom = (
  terms: PaymentCreated,
  { chainId, token, amount, senderAddress, fee, limits }: Source,
  deposit: Deposit,
): PaymentCreated => ({ ...terms, source: { chainId, token, amount, senderAddress }, fee, limits, deposit });

/** Another source of a payment, with the fee of its route. */
export interface Alternative {
  readonly chain: Chain;
  readonly token: Token;
  readonly feePolicy: FeePolicy;
}

/** True if the token can express the receiver's amount exactly. */
export const canExpress = (token: Token, amount: bigint, destination: Token): boolean =>
  fitsRoute(amount, destination.decimals, dollarRoute(token, destination));

/** Amounts that anyAmount accepts: 0.02 to 10,000 whole tokens, as integers of these decimals. */
export const anyAmountLimits = {
  min: { value: 2n, ...usCent },
  max: { value: 10_000n, ...usDollar },
} as const;

/** Minimum payout, from any source. */
export interface Least {
  readonly token: Token;
  /** In the token's units. */
  readonly payout: bigint;
}

/** The limits in a token's units; the minimum rises to a full cent if the fee would leave too little. */
export function limitsIn(token: Token, feePolicy: FeePolicy, least: Least): NonNullable<PaymentCreated['limits']> {
  const { min, max } = anyAmountLimits;
  const usual = convert(min.value, min, token);
  const route = dollarRoute(token, least.token);
  const needed = ceilTo(leastIn(least.payout, feePolicy, route), token.decimals, min.decimals);
  return {
    min: unitsText(larger(needed, usual)),
    max: unitsText(convert(max.value, max, token)),
  };
}

/** A payer can type an amount with this many decimals anywhere. Alternatives request no finer amounts, unless the order has them. */
const roundDecimals = 2;

/** Returns the decimals that alternatives of an order are rounded up to: those of its amount without trailing zeros, and at least two. */
export function orderDecimals(amount: bigint, decimals: number): number {
  let places = decimals;
  let left = amount;
  while (places > roundDecimals && left % 10n === 0n) {
    left /= 10n;
    places -= 1;
  }
  return Math.max(places, roundDecimals);
}

/** How an alternative's exact price is raised. What that adds is part of the fee. */
export interface PriceRounding {
  /** Decimals that the price is rounded up to. */
  readonly places: number;
  /** The price of the payment's own source: the alternative costs the same if that covers its exact price and is less than the rounded one. */
  readonly own: { readonly amount: bigint; readonly token: Token };
}

function raisedPrice(exact: bigint, token: Token, { places, own }: PriceRounding): bigint {
  const rounded = ceilTo(exact, token.decimals, places);
  if (!canExpress(token, own.amount, own.token)) return rounded;
  const same = convert(own.amount, own.token, token);
  return same >= exact && same < rounded ? same : rounded;
}

/**
 * Terms of an alternative: the payer pays the receiver's amount plus the fee.
 *
 * @param amount the receiver's amount, in destination units; null if any amount is accepted
 * @param least minimum payout
 * @param rounding default: the exact price
 */
export function alternativeTerms(
  { chain, token, feePolicy }: Alternative,
  amount: bigint | null,
  least: Least,
  rounding?: PriceRounding,
): SourceTerms {
  const { fixed, basisPoints } = feePolicy;
  const policy = { fixed: unitsText(fixed), basisPoints };
  const own = { chainId: chain.id, token };
  if (amount === null)
    return { ...own, amount: null, fee: { ...policy, amount: null }, limits: limitsIn(token, feePolicy, least) };
  const agreed = agreeOut(amount, feePolicy, dollarRoute(token, least.token));
  const source = rounding === undefined ? agreed.source : raisedPrice(agreed.source, token, rounding);
  const added = source - agreed.source;
  const fee = {
    ...policy,
    amount: unitsText(agreed.fee + added),
    ...(added > 0n && { rounding: unitsText(added) }),
  };
  return { ...own, amount: unitsText(source), fee, limits: null };
}

// Tolerance: how much less than agreed still pays.

type Forgiving = Pick<PaymentCreated, 'policy' | 'destination'>;

/**
 * Tolerance of the app's policy in the source's units; zero if any amount is accepted. Never so large that too little is left to pay out.
 */
export function forgivenOf(
  { policy, destination }: Forgiving,
  { amount, token }: Pick<Source, 'amount' | 'token'>,
): bigint {
  if (!policy || amount === null || destination.amount === null) return 0n;
  const { basisPoints, most_microUsd } = policy.tolerance;
  const share = (BigInt(amount) * BigInt(basisPoints)) / 10_000n;
  const most = convert(BigInt(most_microUsd), usMillionth, token);
  const spare = BigInt(destination.amount) - larger(BigInt(policy.leastPayout), 1n);
  const spared = convert(larger(spare, 0n), destination.token, token);
  return smaller(smaller(share, most), spared);
}

/** Minimum that pays from this source. */
export const dueFrom = (terms: Forgiving, source: Pick<Source, 'amount' | 'limits' | 'token'>): bigint =>
  leastOf(source) - forgivenOf(terms, source);

/** Whether a transfer counts towards the payment, or why it is only held for a refund. */
export type Standing = 'counted' | 'late' | 'surplus' | 'wrongToken' | 'wrongChain' | 'otherSender';

export interface Payin {
  readonly id: string;
  readonly transfer: Transfer;
  readonly amount: bigint;
  readonly standing: Standing;
  readonly phase: 'detected' | 'confirmed' | 'orphaned' | 'lost';
  /** Number of times that its block has left the chain. */
  readonly moves: number;
}

export type Closure =
  | { readonly kind: 'expired'; readonly at: Instant }
  | { readonly kind: 'bounced'; readonly code: BounceCode; readonly at: Instant };

/** A payment up to its funding. */
export interface Paid {
  /** Terms as created, but with the source in force: source, fee, limits and deposit. */
  readonly terms: PaymentCreated;
  /** All offered sources; the first is the one at creation. */
  readonly sources: Sources;
  /** Sources that count by the app's policy although payers are not offered them. */
  readonly tolerated: readonly Source[];
  readonly deposits: Deposits;
  /** The payer's latest choice, or the funding source. */
  readonly chosen: Source;
  readonly payins: readonly Payin[];
  readonly funded: Funding | null;
  readonly closed: Closure | null;
  /** Time at which the app cancelled the payment; null otherwise. */
  readonly cancelledAt: Instant | null;
}

/** Decides whether a transfer counts. The chain's clock decides whether it is on time, not the service's. */
export function standingOf(p: Paid, transfer: Transfer): Standing {
  const known = disclosed(p, payableFrom(p)).some((source) => isSameAsset(source, transfer));
  if (!known) return disclosed(p).some(({ chainId }) => chainId === transfer.chainId) ? 'wrongToken' : 'wrongChain';
  if (p.funded) return p.funded.transferIds.includes(transferId(transfer)) ? 'counted' : 'surplus';
  if (p.closed) return p.closed.kind === 'bounced' ? 'surplus' : 'late';
  if (!mayPay(p, transfer)) return 'otherSender';
  return transfer.blockTime <= p.terms.expiresAt ? 'counted' : 'late';
}

/**
 * A contract's caller is named and signs the call, so only the named sender pays: otherwise a stranger who sees the memo could fund a
 * payment of any amount with dust. A plain transfer may come from an exchange, so any sender counts.
 */
export const mayPay = ({ terms: { intent, source } }: Paid, { from }: Pick<Transfer, 'from'>): boolean =>
  intent === null || from === source.senderAddress;

/** Counted payins of all sources that are on their chain as far as is known. */
export const allCounted = (p: Paid): readonly Payin[] =>
  p.payins.filter(
    (payin) => payin.standing === 'counted' && (payin.phase === 'detected' || payin.phase === 'confirmed'),
  );

/** Counted payins of the source in force. Only one source adds up. */
export const counted = (p: Paid): readonly Payin[] => countedFrom(p, p.terms.source);

const countedFrom = (p: Paid, source: Asset): readonly Payin[] =>
  allCounted(p).filter(({ transfer }) => isSameAsset(transfer, source));

/** All sources that count, offered or not. */
export const payableFrom = ({ sources, tolerated }: Pick<Paid, 'sources' | 'tolerated'>): readonly Source[] => [
  ...sources,
  ...tolerated,
];

export const sourceOf = (p: Paid, asset: Asset): Source | undefined =>
  payableFrom(p).find((source) => isSameAsset(source, asset));

/**
 * Chain time until which money pays: the expiry, plus the time in which the app's policy accepts late money. A cancelled payment accepts none:
 * the app has given the order up, so later money is held for a refund.
 */
export const paysUntil = ({
  terms: { expiresAt, policy },
  cancelledAt,
}: Pick<Paid, 'terms' | 'cancelledAt'>): Instant =>
  policy?.late === 'accept' && cancelledAt === null
    ? plus(expiresAt, policy.lateWithin_minutes * minute_ms)
    : expiresAt;

/** Final payins of the source in force that can fund the payment: counted ones, and late ones that the app's policy accepts. */
export function fundersOf(p: Paid): readonly Payin[] {
  const until = paysUntil(p);
  const isTaken = ({ standing, transfer }: Payin): boolean =>
    standing === 'counted' ||
    (until > p.terms.expiresAt &&
      (standing === 'late' || standing === 'surplus') &&
      transfer.blockTime <= until &&
      mayPay(p, transfer));
  return p.payins.filter(
    (payin) => payin.phase === 'confirmed' && isSameAsset(payin.transfer, p.terms.source) && isTaken(payin),
  );
}

/** Source from which the whole amount due has arrived, final or not. */
export const seenWhole = (p: Paid): Source | undefined =>
  payableFrom(p).find((source) => {
    const payins = countedFrom(p, source);
    return payins.length > 0 && sumOf(payins) >= dueFrom(p.terms, source);
  });

/** The source in force: the funding source, else the one with the whole amount, else the payer's choice. */
export const sourceInForce = (p: Paid): Source => (p.funded || p.closed ? p.chosen : (seenWhole(p) ?? p.chosen));

/** The payment with this source in force. */
export function paidFrom<P extends Paid>(p: P, source: Source): P {
  if (p.sources.length + p.tolerated.length === 1) return p;
  const deposit = p.deposits[familyOf(source)] ?? p.terms.deposit;
  if (isSameAsset(p.terms.source, source) && p.terms.deposit === deposit) return p;
  return { ...p, terms: termsFrom(p.terms, source, deposit) };
}

/** Chains with a disclosed address: money may arrive on any of them. */
export const awaitedChains = (p: Paid): readonly ChainId[] => [
  ...new Set(disclosed(p, payableFrom(p)).map(({ chainId }) => chainId)),
];

/** Sources with disclosed deposits. */
const disclosed = ({ sources, deposits }: Paid, among: readonly Source[] = sources): readonly Source[] =>
  among.filter((source) => deposits[familyOf(source)]);

/**
 * True if funding money has left its chain. It is back when it is final again with at least the same amount; a detection proves nothing.
 */
export function lostFunding({ funded, payins }: Pick<Paid, 'funded' | 'payins'>): boolean {
  if (!funded || funded.rule === 'cashback') return false;
  const there = payins.filter(({ id, phase }) => phase === 'confirmed' && funded.transferIds.includes(id));
  return sumOf(there) < funded.received;
}

export const sumOf = (payins: readonly Payin[]): bigint => payins.reduce((sum, payin) => sum + payin.amount, 0n);

// Funding of a payment and its division.

/** All in source units, except payout in destination units: received = payout + fee + excess + dust. */
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

export const fundingOf = (data: PaymentEventData<'PaymentFunded'>): Funding => ({
  rule: data.rule,
  transferIds: data.transferIds,
  received: BigInt(data.received),
  sourceAmount: BigInt(data.sourceAmount),
  fee: BigInt(data.fee),
  excess: BigInt(data.excess),
  dust: BigInt(data.dust),
  payout: BigInt(data.payout),
  fundedAt: data.fundedAt,
});
