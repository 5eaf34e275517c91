/** Fixes a payment's terms. Time, address and settings are inputs. */
import type { Chain, Token } from '../chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { convert, convertUp, type DollarUnit, dollarRoute, formatAmount, unitsText } from '../money.ts';
import { hour_ms, type Instant, plus } from '../time.ts';
import { type AmountPolicy, holdAll, isSamePolicy } from './amountPolicy.ts';
import type { Deposit, EndpointTerms, PaymentCreated, PaymentEvent, PaymentType, SourceTerms } from './events.ts';
import { type Agreed, agreeIn, agreeOut, type FeePolicy, fitsRoute, leastIn } from './fees.ts';
import type { FundedBy } from './shapes.ts';
import {
  type Alternative,
  alternativesMax,
  alternativeTerms,
  canExpress,
  familyOf,
  isSameAsset,
  type Least,
  limitsIn,
  orderDecimals,
} from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

// A source that counts by the app's policy although payers are not offered it: another token, or another chain of the same deposit address.

interface Tolerance {
  readonly policy: Pick<AmountPolicy, 'wrongToken' | 'wrongChain'>;
  /** All sources that this installation watches on deposits, with each route's fee. */
  readonly candidates: readonly Alternative[];
  /** Amount that the receiver gets, in destination units; null if any amount is accepted. */
  readonly payout: bigint | null;
  readonly least: Least;
}

/** @param offered sources that payers see, the payment's own first */
export function toleratedTerms(
  offered: readonly SourceTerms[],
  { policy, candidates, payout, least }: Tolerance,
): SourceTerms[] {
  const found = candidates.flatMap((candidate) => {
    const meant = meantWith(offered, candidate, policy);
    if (!meant) return [];
    const same = oneForOne(meant, candidate);
    if (same) return [same];
    const fits = payout === null || canExpress(candidate.token, payout, least.token);
    return fits ? [alternativeTerms(candidate, payout, least)] : [];
  });
  return found.slice(0, alternativesMax);
}

/** The offered source that a payer probably meant; undefined if the policy accepts no such mistake. */
function meantWith(
  offered: readonly SourceTerms[],
  { chain, token }: Alternative,
  policy: Tolerance['policy'],
): SourceTerms | undefined {
  if (offered.some((source) => isSameAsset(source, { chainId: chain.id, token }))) return undefined;
  const ofFamily = offered.filter((source) => familyOf(source) === chain.family);
  const ofToken = ofFamily.find((source) => source.token.symbol === token.symbol);
  const onChain = ofFamily.find(({ chainId }) => chainId === chain.id);
  const takesToken = policy.wrongToken === 'accept';
  if (onChain) return takesToken ? onChain : undefined;
  if (policy.wrongChain !== 'accept') return undefined;
  return ofToken ?? (takesToken ? ofFamily[0] : undefined);
}

/** Same amount and fee in another token; undefined if that route costs more, or the token cannot express them. */
function oneForOne(meant: SourceTerms, { chain, token, feePolicy }: Alternative): SourceTerms | undefined {
  const { fee, amount, limits } = meant;
  const fixed = convert(BigInt(fee.fixed), meant.token, token);
  if (feePolicy.fixed > fixed || feePolicy.basisPoints > fee.basisPoints) return undefined;
  const texts = [amount, fee.amount, fee.rounding, limits?.min, limits?.max];
  if (!texts.every((text) => isExact(text ?? null, meant.token, token))) return undefined;
  const same = (text: string): string => unitsText(convert(BigInt(text), meant.token, token));
  return {
    chainId: chain.id,
    token,
    amount: amount === null ? null : same(amount),
    fee: {
      fixed: unitsText(fixed),
      basisPoints: fee.basisPoints,
      amount: fee.amount === null ? null : same(fee.amount),
      ...(fee.rounding !== undefined && { rounding: same(fee.rounding) }),
    },
    limits: limits === null ? null : { min: same(limits.min), max: same(limits.max) },
  };
}

const isExact = (text: string | null, from: DollarUnit, to: DollarUnit): boolean =>
  text === null || convert(BigInt(text), from, to) === convertUp(BigInt(text), from, to);

/** Requested amounts, source and receiver of a payment. */
export interface AskedTerms {
  readonly type: PaymentType;
  readonly intent: PaymentCreated['intent'];
  /** Amounts in the token's own units; null if the type takes none. */
  readonly source: { chain: Chain; token: Token; amount: bigint | null; senderAddress: string | null };
  readonly destination: {
    chain: Chain;
    token: Token;
    amount: bigint | null;
    receiverAddress: string;
    receiverMemo: string | null;
  };
  /** Other sources of the payment, each once, without the main source. Each can express the receiver's amount. */
  readonly alternatives?: readonly Alternative[];
  /** True if the request names the alternatives; false if they come from the app's settings. */
  readonly asksAlternatives?: boolean;
  /** Policy for wrong amounts. Default: hold everything. */
  readonly policy?: AmountPolicy;
  /** Other sources that deposits watch: with a policy, payers may have sent those. */
  readonly tolerable?: readonly Alternative[];
}

/** Requested terms with display texts and metadata. */
export interface AskedOrder extends AskedTerms {
  readonly display: PaymentCreated['display'];
  readonly metadata: PaymentCreated['metadata'];
}

export interface Terms extends AskedOrder {
  readonly paymentId: string;
  readonly appId: string;
  readonly orderId: string | null;
  readonly keyless: boolean;
  readonly feePolicy: FeePolicy;
  /** Result of `agree` for these terms. Default: computed from them. */
  readonly agreed?: Agreed | null;
  /** Minimum payout, in destination units. Default: any amount. */
  readonly leastPayout?: bigint;
  /** True if the fee pays for opening the receiver's account for the token; omitted if none is needed. */
  readonly opensAccount?: boolean;
  readonly deposit: Deposit;
  /** Cashback of the payers; 0 for none. */
  readonly cashback_basisPoints?: number;
  /** The funded refund that the payment pays out; omitted for a sale. */
  readonly refundOf?: FundedBy;
  readonly webhookUrl: string | null;
  /** Types of webhooks that the app chose besides the first two. */
  readonly webhookTypes?: readonly string[];
  /** Further endpoints of the app. */
  readonly webhookEndpoints?: readonly EndpointTerms[];
  readonly now: Instant;
  /** Result of `lifetimeOf`. Default: one hour. */
  readonly life_ms?: number;
}

/** Chain families on which only a reference identifies a payout. */
const withoutNonces: ReadonlySet<Chain['family']> = new Set(['solana']);

/** A payment lives one hour (service reference 8), or less if a request with a key says so. */
export const lifetime_ms = hour_ms;
/** A shorter life would end before a payer sees the payment. */
export const lifetimeLeast_s = 10;
export const lifetimeMost_s = lifetime_ms / 1_000;

/**
 * @param asked_s from the request; null for the default
 * @returns the life in ms, or a refusal. Contract payments have a fixed life (service reference 8). Requests without a key cannot choose
 * one, so
 * they cannot create payments that end before their payers see them
 */
export function lifetimeOf(
  asked_s: number | null,
  { intent, keyless }: Pick<Terms, 'intent' | 'keyless'>,
): number | Refusal {
  if (asked_s === null) return lifetime_ms;
  const refusal = (why: string) => refuse('invalidRequest', `expiresInSeconds ${why}`, '/expiresInSeconds');
  if (keyless) return refusal('needs a key: send X-API-Key, or leave it out');
  if (intent !== null) return refusal('cannot be chosen with an intent: leave it out');
  if (!Number.isInteger(asked_s) || asked_s < lifetimeLeast_s || asked_s > lifetimeMost_s)
    return refusal(`must be a whole number from ${lifetimeLeast_s} to ${lifetimeMost_s}`);
  return asked_s * 1_000;
}

export function createPayment(state: PaymentState, terms: Terms): Decision<PaymentEvent> {
  if (state) return repeatOrder(state, terms);
  const agreed = terms.agreed === undefined ? agree(terms) : terms.agreed;
  if (isRefusal(agreed)) return agreed;
  return [{ type: 'PaymentCreated', data: created(terms, agreed) }];
}

/**
 * Answers a repeated order with its existing payment. Without a key, terms and texts must be equal: a stranger may have sent the order
 * first, and nobody receives a payment with terms, a title or metadata that they did not send.
 */
export function repeatOrder({ terms, sources: [source] }: Payment, asked: AskedOrder): Decision<PaymentEvent> {
  if (!terms.keyless) return [];
  if (sameTerms({ ...terms, source }, asked) && sameAlternatives(terms, asked) && sameWords(terms, asked)) return [];
  return refuse(
    'orderConflict',
    'this orderId was used with other terms, display or metadata: send those again, or another orderId',
    '/orderId',
  );
}

/** A request without metadata keeps the first request's metadata. */
const sameWords = ({ display, metadata }: PaymentCreated, asked: AskedOrder): boolean =>
  display.title === asked.display.title &&
  display.description === asked.display.description &&
  display.currency === asked.display.currency &&
  JSON.stringify(display.lineItems) === JSON.stringify(asked.display.lineItems) &&
  (asked.metadata === null || JSON.stringify(metadata) === JSON.stringify(asked.metadata));

function sameTerms({ type, intent, source, destination }: PaymentCreated, asked: AskedTerms): boolean {
  return (
    type === asked.type &&
    intent === asked.intent &&
    sameSide(source, asked.source) &&
    source.senderAddress === asked.source.senderAddress &&
    sameSide(destination, asked.destination) &&
    destination.receiverAddress === asked.destination.receiverAddress &&
    destination.receiverMemo === asked.destination.receiverMemo
  );
}

function sameAlternatives({ alternatives = [] }: PaymentCreated, asked: AskedTerms): boolean {
  if (!asked.asksAlternatives) return true;
  const wanted = asked.alternatives?.map(({ chain, token }) => `${chain.id} ${token.address}`) ?? [];
  const known = alternatives.map(({ chainId, token }) => `${chainId} ${token.address}`);
  return wanted.toSorted().join() === known.toSorted().join();
}

/** Compares one side only: the other side follows from the fee, which may have changed. */
const sameSide = (
  { chainId, token, amount }: Pick<PaymentCreated['source'], 'chainId' | 'token' | 'amount'>,
  asked: { readonly chain: Chain; readonly token: Token; readonly amount: bigint | null },
): boolean =>
  chainId === asked.chain.id &&
  token.address === asked.token.address &&
  (asked.amount === null || amount === unitsText(asked.amount));

type Money = Pick<Terms, 'type' | 'feePolicy' | 'leastPayout'> & {
  readonly [Side in 'source' | 'destination']: Pick<Terms[Side], 'token' | 'amount'>;
};

/** The two amounts of a payment, exact in both tokens; null if any amount is accepted. A refusal names the field. */
export function agree(terms: Money): Agreed | Refusal | null {
  if (terms.type === 'anyAmount') return null;
  const { source, destination, feePolicy } = terms;
  const route = dollarRoute(source.token, destination.token);
  const side = terms.type === 'exactIn' ? 'source' : 'destination';
  const { amount, token } = terms[side];
  const pointer = `/${side}/amount`;
  if (amount === null || amount <= 0n) return refuse('invalidRequest', 'the amount must be greater than zero', pointer);
  if (!fitsRoute(amount, token.decimals, route)) {
    const places = Math.min(route.source, route.destination);
    return refuse(
      'invalidRequest',
      `the amount may have at most ${places} decimals: both tokens must represent it`,
      pointer,
    );
  }
  const agreed = terms.type === 'exactIn' ? agreeIn(amount, feePolicy, route) : agreeOut(amount, feePolicy, route);
  return isEnough(agreed, terms) ? agreed : tooSmall(terms);
}

/** Computes the amounts once the payout's cost is known. Keeps the earlier amounts unless the cost raised the fee. */
export function agreeOnPrice(
  terms: Money,
  before: Required<Pick<Terms, 'feePolicy' | 'agreed'>>,
): Agreed | Refusal | null {
  const { feePolicy, agreed } = before;
  const sameFee = feePolicy.fixed === terms.feePolicy.fixed && feePolicy.basisPoints === terms.feePolicy.basisPoints;
  if (agreed === null || !sameFee) return agree(terms);
  return isEnough(agreed, terms) ? agreed : tooSmall(terms);
}

const isEnough = (agreed: Agreed | undefined, { leastPayout = 0n }: Money): agreed is Agreed =>
  agreed !== undefined && agreed.destination >= leastPayout;

function tooSmall({ type, source, destination, feePolicy, leastPayout = 0n }: Money): Refusal {
  const route = dollarRoute(source.token, destination.token);
  const side = type === 'exactIn' ? 'source' : 'destination';
  const { token } = side === 'source' ? source : destination;
  const pointer = `/${side}/amount`;
  if (leastPayout === 0n) {
    const fee = formatAmount(feePolicy.fixed, route.source);
    return refuse('invalidRequest', `the amount does not cover the fee (${fee} and up): send a larger one`, pointer);
  }
  const least = type === 'exactIn' ? leastIn(leastPayout, feePolicy, route) : leastPayout;
  const message = `the amount must be at least ${formatAmount(least, token.decimals)} ${token.symbol}: less is not worth what its payout costs`;
  return refuse('invalidRequest', message, pointer);
}

type Priced = AskedTerms & Pick<Terms, 'feePolicy' | 'leastPayout'>;

/** Amounts and fee that follow from the request and the fee policy. */
export type Quote = Pick<PaymentCreated, 'type' | 'source' | 'destination' | 'fee' | 'limits' | 'alternatives'>;

/** @param agreed result of `agree` */
export function quoteOf(terms: Priced, agreed: Agreed | null): Quote {
  const { source, destination, feePolicy } = terms;
  const least = { token: destination.token, payout: terms.leastPayout ?? 0n };
  const { amount: asked, token } = terms.type === 'exactIn' ? source : destination;
  const rounding =
    asked === null || agreed === null
      ? undefined
      : { places: orderDecimals(asked, token.decimals), own: { amount: agreed.source, token: source.token } };
  const alternatives = (terms.alternatives ?? [])
    .slice(0, alternativesMax)
    .map((each) => alternativeTerms(each, agreed?.destination ?? null, least, rounding));
  return {
    type: terms.type,
    source: {
      chainId: source.chain.id,
      token: source.token,
      amount: agreed ? unitsText(agreed.source) : null,
      senderAddress: source.senderAddress,
    },
    destination: {
      chainId: destination.chain.id,
      token: destination.token,
      amount: agreed ? unitsText(agreed.destination) : null,
      receiverAddress: destination.receiverAddress,
      receiverMemo: destination.receiverMemo,
    },
    fee: {
      fixed: unitsText(feePolicy.fixed),
      basisPoints: feePolicy.basisPoints,
      amount: agreed ? unitsText(agreed.fee) : null,
    },
    limits: agreed ? null : limitsIn(source.token, feePolicy, least),
    ...(alternatives.length > 0 && { alternatives }),
  };
}

function created(terms: Terms, agreed: Agreed | null): PaymentCreated {
  const { destination, now } = terms;
  const quote = quoteOf(terms, agreed);
  return {
    ...quote,
    paymentId: terms.paymentId,
    appId: terms.appId,
    orderId: terms.orderId,
    keyless: terms.keyless,
    intent: terms.intent,
    display: terms.display,
    metadata: terms.metadata,
    ...policyIn(terms, quote, agreed),
    deposit: terms.deposit,
    ...(withoutNonces.has(destination.chain.family) && { payoutReference: 'secret' as const }),
    ...(terms.opensAccount !== undefined && { opensAccount: terms.opensAccount }),
    ...(terms.cashback_basisPoints ? { cashback_basisPoints: terms.cashback_basisPoints } : {}),
    ...(terms.refundOf && { refundOf: terms.refundOf }),
    webhookUrl: terms.webhookUrl,
    ...(terms.webhookTypes?.length && { webhookTypes: [...terms.webhookTypes] }),
    ...(terms.webhookEndpoints?.length && {
      webhookEndpoints: terms.webhookEndpoints.map(({ endpointId, url, types }) => ({
        endpointId,
        url,
        types: [...types],
      })),
    }),
    createdAt: now,
    expiresAt: plus(now, terms.life_ms ?? lifetime_ms),
  };
}

/** Stores no policy for an app that holds all wrong amounts. */
function policyIn(
  { policy = holdAll, tolerable: candidates = [], destination: { token }, leastPayout = 0n }: Terms,
  { source, fee, limits, alternatives = [] }: Quote,
  agreed: Agreed | null,
): Pick<PaymentCreated, 'policy'> {
  if (isSamePolicy(policy, holdAll)) return {};
  const { senderAddress: _, ...own } = source;
  const least = { token, payout: leastPayout };
  const tolerated = toleratedTerms([{ ...own, fee, limits }, ...alternatives], {
    policy,
    candidates,
    payout: agreed?.destination ?? null,
    least,
  });
  return {
    policy: { ...policy, leastPayout: unitsText(leastPayout), ...(tolerated.length > 0 && { tolerated }) },
  };
}
