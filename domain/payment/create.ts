/** Fixing a payment's terms. Everything that the world decides (time, address, settings) comes in as input. */
import type { Chain, Token } from '../chains.ts';
import { type Decision, isRefusal, type Refusal, refuse } from '../decider.ts';
import { formatAmount, rescale, rescaleUp, unitsText } from '../money.ts';
import { hour_ms, type Instant, plus } from '../time.ts';
import { type AmountPolicy, holdAll, isSamePolicy } from './amountPolicy.ts';
import type { Deposit, PaymentCreated, PaymentEvent, PaymentType, SourceTerms } from './events.ts';
import { type Agreed, agreeIn, agreeOut, type FeePolicy, fitsRoute, leastIn, type RouteDecimals } from './fees.ts';
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

// What pays a payment by its app's policy although no payer is offered it: another token, or another chain of the same deposit address.

interface Tolerance {
  readonly policy: Pick<AmountPolicy, 'wrongToken' | 'wrongChain'>;
  /** All that deposits of this installation are watched for, with the fee of each route. */
  readonly candidates: readonly Alternative[];
  /** What the receiver gets, in units of the destination; null where any amount is taken. */
  readonly payout: bigint | null;
  readonly least: Least;
}

/** @param offered what payers are told, the payment's own source first */
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

/** The source that a payer meant who sends this; undefined where the policy takes no such mistake. */
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

/** The same amount and fee in another token; undefined where that route costs more, or the token cannot express them. */
function oneForOne(meant: SourceTerms, { chain, token, feePolicy }: Alternative): SourceTerms | undefined {
  const { fee, amount, limits } = meant;
  const fixed = rescale(BigInt(fee.fixed), meant.token.decimals, token.decimals);
  if (feePolicy.fixed > fixed || feePolicy.basisPoints > fee.basisPoints) return undefined;
  const texts = [amount, fee.amount, fee.rounding, limits?.min, limits?.max];
  if (!texts.every((text) => isExact(text ?? null, meant.token, token))) return undefined;
  const same = (text: string): string => unitsText(rescale(BigInt(text), meant.token.decimals, token.decimals));
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

const isExact = (text: string | null, from: Pick<Token, 'decimals'>, to: Token): boolean =>
  text === null ||
  rescale(BigInt(text), from.decimals, to.decimals) === rescaleUp(BigInt(text), from.decimals, to.decimals);

/** What a customer is to pay and whom that pays, as it was asked for. */
export interface AskedTerms {
  readonly type: PaymentType;
  readonly intent: PaymentCreated['intent'];
  /** Amounts in the token's own units; null where the type takes none. */
  readonly source: { chain: Chain; token: Token; amount: bigint | null; senderAddress: string | null };
  readonly destination: {
    chain: Chain;
    token: Token;
    amount: bigint | null;
    receiverAddress: string;
    receiverMemo: string | null;
  };
  /** What else the payer may pay from: each once, without the source itself. Each can express what the receiver gets. */
  readonly alternatives?: readonly Alternative[];
  /** Whether it was asked for; else it is what the app's settings say at present. */
  readonly asksAlternatives?: boolean;
  /** What the app lets happen with money that is not what was agreed; all of it is held when left out. */
  readonly policy?: AmountPolicy;
  /** What else its deposits are watched for: by the policy, payers may have sent that. */
  readonly tolerable?: readonly Alternative[];
}

/** The same with its words. */
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
  /** The least that the receiver gets, in units of the destination; any amount when left out. */
  readonly leastPayout?: bigint;
  /** Whether the fee pays for the receiver's account for the token; left out where none is needed. */
  readonly opensAccount?: boolean;
  readonly deposit: Deposit;
  /** What its payers earn of it; 0 for nothing. */
  readonly cashback_basisPoints?: number;
  readonly webhookUrl: string | null;
  readonly now: Instant;
  /** As `lifetimeOf` has it; the whole hour when left out. */
  readonly life_ms?: number;
}

/** Chains where nothing but a reference tells a payout from others. */
const withoutNonces: ReadonlySet<Chain['family']> = new Set(['solana']);

/** A payment lives one hour (service reference 8), or less where the app's key asks for that. */
export const lifetime_ms = hour_ms;
/** Less would be over before a payer has seen it. */
export const lifetimeLeast_s = 10;
export const lifetimeMost_s = lifetime_ms / 1_000;

/**
 * @param asked_s what the request says; null when nothing
 * @returns the life in ms; a refusal where it may not be chosen: the life of contract payments is part of their contract (service
 *   reference 8), and whoever has no key must not make payments that are over before their payers look
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
 * Answers an order that is sent again with the payment that it has. Without a key, terms and words must be equal: a stranger may have sent
 * the order first, and nobody gets a payment with terms, a title or metadata that they did not send.
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

/** A request without metadata leaves the first request's in place. */
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

/** The amount of the other side follows from the fee, which may have changed since. */
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

/** The two amounts of an agreed payment, exact in both tokens; null where any amount is taken. A refusal names the field. */
export function agree(terms: Money): Agreed | Refusal | null {
  if (terms.type === 'anyAmount') return null;
  const { source, destination, feePolicy } = terms;
  const route: RouteDecimals = { source: source.token.decimals, destination: destination.token.decimals };
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

/** Agrees on the amounts after the payout's cost is known. Keeps those agreed before, unless the cost raised the fee. */
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
  const route: RouteDecimals = { source: source.token.decimals, destination: destination.token.decimals };
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

/** What is paid, what is paid out and what that costs: all that follows from what was asked and from the fee. */
export type Quote = Pick<PaymentCreated, 'type' | 'source' | 'destination' | 'fee' | 'limits' | 'alternatives'>;

/** @param agreed as `agree` has it */
export function quoteOf(terms: Priced, agreed: Agreed | null): Quote {
  const { source, destination, feePolicy } = terms;
  const least = { token: destination.token, payout: terms.leastPayout ?? 0n };
  const { amount: asked, token } = terms.type === 'exactIn' ? source : destination;
  const places = asked === null ? undefined : orderDecimals(asked, token.decimals);
  const alternatives = (terms.alternatives ?? [])
    .slice(0, alternativesMax)
    .map((each) => alternativeTerms(each, agreed?.destination ?? null, least, places));
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
    webhookUrl: terms.webhookUrl,
    createdAt: now,
    expiresAt: plus(now, terms.life_ms ?? lifetime_ms),
  };
}

/** A payment whose app holds whatever was not agreed says nothing of a policy. */
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
