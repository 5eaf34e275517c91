/**
 * What a payment can be paid from: the chain and token that it was created with and, where its payer may choose, others. Whichever it is
 * paid from, the receiver gets the same; so each has an amount and a fee of its own.
 */
import { type Chain, type ChainFamily, type ChainId, chainOf, type Token } from '../chains.ts';
import { ceilTo, larger, rescale, unitsText } from '../money.ts';
import type { Deposit, PaymentCreated, SourceTerms, TokenRef } from './events.ts';
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

/**
 * Terms of an alternative: what the payer pays is what the receiver gets, and the fee on top.
 *
 * @param amount what the receiver gets, in units of the destination; null where any amount is taken
 * @param least what the receiver gets at least
 */
export function alternativeTerms(
  { chain, token, feePolicy }: Alternative,
  amount: bigint | null,
  least: Least,
): SourceTerms {
  const { fixed, basisPoints } = feePolicy;
  const policy = { fixed: unitsText(fixed), basisPoints };
  const own = { chainId: chain.id, token };
  if (amount === null)
    return { ...own, amount: null, fee: { ...policy, amount: null }, limits: limitsIn(token, feePolicy, least) };
  const agreed = agreeOut(amount, feePolicy, { source: token.decimals, destination: least.token.decimals });
  return { ...own, amount: unitsText(agreed.source), fee: { ...policy, amount: unitsText(agreed.fee) }, limits: null };
}
