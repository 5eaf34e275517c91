/**
 * Sources: the chains and tokens that a payment may be paid from, and which of its payins count. The receiver gets the same from every
 * source, so each source has its own amount and fee.
 */
import { type Chain, type ChainFamily, type ChainId, chainOf, type Token } from '../chains.ts';
import { ceilTo, larger, microUsdDecimals, rescale, smaller, unitsText } from '../money.ts';
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

/** Besides the one that it was created with. */
export const alternativesMax = 12;

export interface Source extends SourceTerms {
  readonly senderAddress: string | null;
}

/** Money of one kind in one place. */
export interface Asset {
  readonly chainId: ChainId;
  readonly token: Pick<TokenRef, 'address'>;
}

export const isSameAsset = (a: Asset, b: Asset): boolean =>
  a.chainId === b.chainId && a.token.address === b.token.address;

/** The first is the one that the payment was created with. */
export type Sources = readonly [Source, ...Source[]];

export const sourcesOf = ({ source, fee, limits, alternatives = [] }: PaymentCreated): Sources => [
  { ...source, fee, limits },
  ...alternatives.map((each) => ({ ...each, senderAddress: null })),
];

/** What else pays it by the app's policy, though no payer is offered it. */
export const toleratedOf = ({ policy }: PaymentCreated): readonly Source[] =>
  (policy?.tolerated ?? []).map((each) => ({ ...each, senderAddress: null }));

/** The least that pays: what was agreed, or the least that is accepted. In the source's units. */
export const leastOf = ({ amount, limits }: Pick<Source, 'amount' | 'limits'>): bigint =>
  BigInt(amount ?? limits?.min ?? 0);

/** Where it can be paid to: one deposit for each family of chains, as far as payers were told. */
export type Deposits = Readonly<Partial<Record<ChainFamily, Deposit>>>;

export const familyOf = ({ chainId }: Pick<Asset, 'chainId'>): ChainFamily => chainOf(chainId).family;

/** The terms as they are when the payment is paid from this source. */
export const termsFrom = (
  terms: PaymentCreated,
  { chainId, token, amount, senderAddress, fee, limits }: Source,
  deposit: Deposit,
): PaymentCreated => ({ ...terms, source: { chainId, token, amount, senderAddress }, fee, limits, deposit });

/** Another chain and token that the payer may pay from, with the fee of that route. */
export interface Alternative {
  readonly chain: Chain;
  readonly token: Token;
  readonly feePolicy: FeePolicy;
}

/** Whether the token can express what the receiver gets, to the last unit. */
export const canExpress = (token: Token, amount: bigint, destination: Token): boolean =>
  fitsRoute(amount, destination.decimals, { source: token.decimals, destination: destination.decimals });

/** What anyAmount accepts: 0.02 to 10,000 whole tokens, as integers of these decimals. */
export const anyAmountLimits = { min: { value: 2n, decimals: 2 }, max: { value: 10_000n, decimals: 0 } } as const;

/** What the receiver gets at least, whatever it is paid from. */
export interface Least {
  readonly token: Token;
  /** In the token's units. */
  readonly payout: bigint;
}

/** Those limits in a token's units; more, to the full cent, where the fee leaves too little of the least. */
export function limitsIn(
  { decimals }: Token,
  feePolicy: FeePolicy,
  { token, payout }: Least,
): NonNullable<PaymentCreated['limits']> {
  const { min, max } = anyAmountLimits;
  const usual = rescale(min.value, min.decimals, decimals);
  const needed = ceilTo(
    leastIn(payout, feePolicy, { source: decimals, destination: token.decimals }),
    decimals,
    min.decimals,
  );
  return {
    min: unitsText(larger(needed, usual)),
    max: unitsText(rescale(max.value, max.decimals, decimals)),
  };
}

/** A payer can type an amount with this many decimals anywhere: alternatives are asked for no finer, unless the order is. */
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

/**
 * Terms of an alternative: what the payer pays is what the receiver gets, and the fee on top.
 *
 * @param amount what the receiver gets, in units of the destination; null where any amount is taken
 * @param least what the receiver gets at least
 * @param places decimals that the sum is rounded up to; what that adds is part of the fee. Default: nothing is rounded
 */
export function alternativeTerms(
  { chain, token, feePolicy }: Alternative,
  amount: bigint | null,
  least: Least,
  places = token.decimals,
): SourceTerms {
  const { fixed, basisPoints } = feePolicy;
  const policy = { fixed: unitsText(fixed), basisPoints };
  const own = { chainId: chain.id, token };
  if (amount === null)
    return { ...own, amount: null, fee: { ...policy, amount: null }, limits: limitsIn(token, feePolicy, least) };
  const agreed = agreeOut(amount, feePolicy, { source: token.decimals, destination: least.token.decimals });
  const source = ceilTo(agreed.source, token.decimals, places);
  const rounding = source - agreed.source;
  const fee = {
    ...policy,
    amount: unitsText(agreed.fee + rounding),
    ...(rounding > 0n && { rounding: unitsText(rounding) }),
  };
  return { ...own, amount: unitsText(source), fee, limits: null };
}

// The tolerance: how much less than agreed still pays.

type Forgiving = Pick<PaymentCreated, 'policy' | 'destination'>;

/** In the source's units, by the app's policy; nothing where any amount is taken. Never so much that too little is left to pay out. */
export function forgivenOf(
  { policy, destination }: Forgiving,
  { amount, token }: Pick<Source, 'amount' | 'token'>,
): bigint {
  if (!policy || amount === null || destination.amount === null) return 0n;
  const { basisPoints, most_microUsd } = policy.tolerance;
  const share = (BigInt(amount) * BigInt(basisPoints)) / 10_000n;
  const most = rescale(BigInt(most_microUsd), microUsdDecimals, token.decimals);
  const spare = BigInt(destination.amount) - larger(BigInt(policy.leastPayout), 1n);
  const spared = rescale(larger(spare, 0n), destination.token.decimals, token.decimals);
  return smaller(smaller(share, most), spared);
}

/** The least that pays from this source. */
export const dueFrom = (terms: Forgiving, source: Pick<Source, 'amount' | 'limits' | 'token'>): bigint =>
  leastOf(source) - forgivenOf(terms, source);

/** Why a transfer counts towards the payment, or is only held for a refund. */
export type Standing = 'counted' | 'late' | 'surplus' | 'wrongToken' | 'wrongChain' | 'otherSender';

export interface Payin {
  readonly id: string;
  readonly transfer: Transfer;
  readonly amount: bigint;
  readonly standing: Standing;
  readonly phase: 'detected' | 'confirmed' | 'orphaned' | 'lost';
  /** How often its block has left the chain. */
  readonly moves: number;
}

export type Closure =
  | { readonly kind: 'expired'; readonly at: Instant }
  | { readonly kind: 'bounced'; readonly code: BounceCode; readonly at: Instant };

/** A payment as far as its money has come in. */
export interface Paid {
  /** As created; source, fee, limits and deposit are those that it is paid from now. */
  readonly terms: PaymentCreated;
  /** All that it can be paid from; the first is the one that it was created with. */
  readonly sources: Sources;
  /** What else pays it by the app's policy, though no payer is offered it. */
  readonly tolerated: readonly Source[];
  readonly deposits: Deposits;
  /** What its payer chose last, or what funded it. */
  readonly chosen: Source;
  readonly payins: readonly Payin[];
  readonly funded: Funding | null;
  readonly closed: Closure | null;
}

/** Whether a transfer counts. On time is what the chain's clock says, not ours. */
export function standingOf(p: Paid, transfer: Transfer): Standing {
  const known = disclosed(p, payableFrom(p)).some((source) => isSameAsset(source, transfer));
  if (!known) return disclosed(p).some(({ chainId }) => chainId === transfer.chainId) ? 'wrongToken' : 'wrongChain';
  if (p.funded) return p.funded.transferIds.includes(transferId(transfer)) ? 'counted' : 'surplus';
  if (p.closed) return p.closed.kind === 'bounced' ? 'surplus' : 'late';
  if (!mayPay(p, transfer)) return 'otherSender';
  return transfer.blockTime <= p.terms.expiresAt ? 'counted' : 'late';
}

/**
 * A contract's caller is named and signs the call, so it alone pays: a stranger who sees the memo could fund a payment of any amount with
 * next to nothing. A plain transfer may come from an exchange, whatever sender was announced: it counts.
 */
export const mayPay = ({ terms: { intent, source } }: Paid, { from }: Pick<Transfer, 'from'>): boolean =>
  intent === null || from === source.senderAddress;

/** Payins that count and are on the chain as far as is known, whatever they pay from. */
export const allCounted = (p: Paid): readonly Payin[] =>
  p.payins.filter(
    (payin) => payin.standing === 'counted' && (payin.phase === 'detected' || payin.phase === 'confirmed'),
  );

/** Those of what the payment is paid from. Only what comes from one source adds up. */
export const counted = (p: Paid): readonly Payin[] => countedFrom(p, p.terms.source);

const countedFrom = (p: Paid, source: Asset): readonly Payin[] =>
  allCounted(p).filter(({ transfer }) => isSameAsset(transfer, source));

/** All that it can be paid from, offered or not. */
export const payableFrom = ({ sources, tolerated }: Pick<Paid, 'sources' | 'tolerated'>): readonly Source[] => [
  ...sources,
  ...tolerated,
];

export const sourceOf = (p: Paid, asset: Asset): Source | undefined =>
  payableFrom(p).find((source) => isSameAsset(source, asset));

/** Until when money pays, by its chain's clock: to the end, or as long after it as the app's policy takes late money. */
export const paysUntil = ({ expiresAt, policy }: PaymentCreated): Instant =>
  policy?.late === 'accept' ? plus(expiresAt, policy.lateWithin_minutes * minute_ms) : expiresAt;

/** Final payins of what the payment is paid from that can fund it: those that count, and late ones that the app's policy takes. */
export function fundersOf(p: Paid): readonly Payin[] {
  const until = paysUntil(p.terms);
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

/** From where all that is due has been seen, final or not: nothing else has to be paid. */
export const seenWhole = (p: Paid): Source | undefined =>
  payableFrom(p).find((source) => {
    const payins = countedFrom(p, source);
    return payins.length > 0 && sumOf(payins) >= dueFrom(p.terms, source);
  });

/** What the payment is paid from: what funded it, else where all of the money has been seen, else the payer's choice. */
export const sourceInForce = (p: Paid): Source => (p.funded || p.closed ? p.chosen : (seenWhole(p) ?? p.chosen));

/** The payment as it is when it is paid from this source. */
export function paidFrom<P extends Paid>(p: P, source: Source): P {
  if (p.sources.length + p.tolerated.length === 1) return p;
  const deposit = p.deposits[familyOf(source)] ?? p.terms.deposit;
  if (isSameAsset(p.terms.source, source) && p.terms.deposit === deposit) return p;
  return { ...p, terms: termsFrom(p.terms, source, deposit) };
}

/** The chains on which an address that payers were told can pay it: money may come on any of them. */
export const awaitedChains = (p: Paid): readonly ChainId[] => [
  ...new Set(disclosed(p, payableFrom(p)).map(({ chainId }) => chainId)),
];

/** The sources whose deposits payers were told. */
const disclosed = ({ sources, deposits }: Paid, among: readonly Source[] = sources): readonly Source[] =>
  among.filter((source) => deposits[familyOf(source)]);

/**
 * Whether money that funded the payment has left its chain. It is back when it is final again, for at least as much: that it was seen
 * proves nothing.
 */
export function lostFunding({ funded, payins }: Pick<Paid, 'funded' | 'payins'>): boolean {
  if (!funded || funded.rule === 'cashback') return false;
  const there = payins.filter(({ id, phase }) => phase === 'confirmed' && funded.transferIds.includes(id));
  return sumOf(there) < funded.received;
}

export const sumOf = (payins: readonly Payin[]): bigint => payins.reduce((sum, payin) => sum + payin.amount, 0n);

// What funded a payment and how it is divided.

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
