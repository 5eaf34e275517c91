/**
 * A reusable payment link: each visitor creates a payment of their own. Stream `link-<linkId>`. The link holds no wallet: each payment uses
 * the app's settlement wallet of that moment. Amounts are in millionths of a dollar, which every token can express.
 */
import Type, { type Static } from 'typebox';
import { chainIds, tokenSymbols } from './chains.ts';
import { assert, type Decider, type Decision, type Refusal, refuse } from './decider.ts';
import { formatAmount, microUsdDecimals } from './money.ts';
import { anyAmountLimits } from './payment/sources.ts';
import { Amount, closed, Id, nullable, oneOf, Text, Time } from './schema.ts';
import type { Instant } from './time.ts';

export const linkSchemaVersion = 1;

/** 27 bytes in base64url. */
export const linkIdPattern = '^[A-Za-z0-9_-]{36}$';
export const isLinkId = (text: string): boolean => new RegExp(linkIdPattern).test(text);

/** exactOut: the amount is what the merchant gets; the payer pays the fee. exactIn: the amount is what the payer pays. */
export const linkTypes = ['exactOut', 'exactIn'] as const;

export const linkEventSchemas = {
  LinkCreated: Type.Object(
    {
      linkId: Type.String({ pattern: linkIdPattern }),
      appId: Id,
      type: oneOf(linkTypes),
      /** Null if the payer chooses, within the limits. */
      amount_microUsd: nullable(Amount),
      limits_microUsd: nullable(Type.Object({ min: Amount, max: Amount }, closed)),
      title: nullable(Text(200)),
      description: nullable(Text(1_000)),
      /** Null if the payer chooses. */
      source: nullable(Type.Object({ chainId: oneOf(chainIds), tokenSymbol: oneOf(tokenSymbols) }, closed)),
      createdAt: Time,
    },
    closed,
  ),
  LinkClosed: Type.Object({ closedAt: Time }, closed),
} as const;

type Schemas = typeof linkEventSchemas;
export type LinkEvent = {
  [T in keyof Schemas]: { readonly type: T; readonly data: Static<Schemas[T]> };
}[keyof Schemas];
export type LinkTerms = Static<Schemas['LinkCreated']>;
export type LinkType = LinkTerms['type'];

export interface Link extends LinkTerms {
  /** Null while the link is open. */
  readonly closedAt: Instant | null;
}
export type LinkState = Link | null;

export const link: Decider<LinkState, LinkEvent> = {
  category: 'link',
  initial: null,
  evolve(state, { type, data }) {
    if (type === 'LinkCreated') return { ...data, closedAt: null };
    assert(state !== null, 'a link that is closed was created');
    return { ...state, closedAt: data.closedAt };
  },
};

const microUsd = ({ value, decimals }: { readonly value: bigint; readonly decimals: number }): bigint =>
  value * 10n ** BigInt(microUsdDecimals - decimals);

/** Bounds of a link's own limits, and the default limits. */
export const linkLimits = { min: microUsd(anyAmountLimits.min), max: microUsd(anyAmountLimits.max) } as const;

/** Returns `[]` for a repeated request. */
export function createLink(state: LinkState, terms: LinkTerms): Decision<LinkEvent> {
  if (state) return [];
  const { amount_microUsd: amount, limits_microUsd: limits } = terms;
  assert((amount === null) !== (limits === null), 'a link has an amount or limits');
  if (amount !== null) {
    return outside(BigInt(amount), linkLimits, '/amount') ?? [{ type: 'LinkCreated', data: terms }];
  }
  const [min, max] = [BigInt(limits?.min ?? 0), BigInt(limits?.max ?? 0)];
  const unfit = outside(min, linkLimits, '/minAmount') ?? outside(max, { ...linkLimits, min }, '/maxAmount');
  return unfit ?? [{ type: 'LinkCreated', data: terms }];
}

/** Returns `[]` for a closed link. A link of another app is refused like an unknown one. */
export function closeLink(state: LinkState, appId: string, now: Instant): Decision<LinkEvent> {
  if (state?.appId !== appId) return noSuchLink;
  return state.closedAt === null ? [{ type: 'LinkClosed', data: { closedAt: now } }] : [];
}

export const noSuchLink = refuse('notFound', 'the app has no such link: list them');

/** Amount of a payment with the link: the link's, or the payer's. @param chosen in millionths of a dollar; null for none */
export function amountWith({ amount_microUsd, limits_microUsd }: LinkTerms, chosen: bigint | null): bigint | Refusal {
  if (amount_microUsd !== null || limits_microUsd === null) return BigInt(amount_microUsd ?? 0);
  if (chosen === null) return refuse('invalidRequest', 'the amount is missing', '/amount');
  const limits = { min: BigInt(limits_microUsd.min), max: BigInt(limits_microUsd.max) };
  return outside(chosen, limits, '/amount') ?? chosen;
}

function outside(
  amount: bigint,
  { min, max }: { readonly min: bigint; readonly max: bigint },
  pointer: string,
): Refusal | undefined {
  if (amount >= min && amount <= max) return undefined;
  const [least, most] = [min, max].map((limit) => formatAmount(limit, microUsdDecimals));
  return refuse('invalidRequest', `must be from ${least} to ${most}`, pointer);
}
