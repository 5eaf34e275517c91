/** What pays a payment by its app's policy although no payer is offered it: another token, or another chain of the same deposit address. */
import type { Token } from '../chains.ts';
import { rescale, rescaleUp, unitsText } from '../money.ts';
import type { AmountPolicy } from './amountPolicy.ts';
import type { SourceTerms } from './events.ts';
import {
  type Alternative,
  alternativesMax,
  alternativeTerms,
  canExpress,
  familyOf,
  isSameAsset,
  type Least,
} from './sources.ts';

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
  const texts = [amount, fee.amount, limits?.min, limits?.max];
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
    },
    limits: limits === null ? null : { min: same(limits.min), max: same(limits.max) },
  };
}

const isExact = (text: string | null, from: Pick<Token, 'decimals'>, to: Token): boolean =>
  text === null ||
  rescale(BigInt(text), from.decimals, to.decimals) === rescaleUp(BigInt(text), from.decimals, to.decimals);
