/** A payment as its payer sees it: progress, open steps, and held money. One word for each screen. */
import type { ChainId, TokenSymbol } from '../chains.ts';
import { formatAmount, smaller } from '../money.ts';
import type { Instant } from '../time.ts';
import type { BounceCode, TokenRef } from './events.ts';
import { counted, dueFrom, isSameAsset, type Payin, type Standing, sumOf } from './sources.ts';
import type { Payment } from './state.ts';
import { isUnderWay, isWhollyRefunded, takenBy } from './state.ts';

/**
 * Open: waiting, timeUp (the last blocks are still being scanned), detected, confirming, underpaid; wrongToken, wrongChain, otherSender and
 * late if only such money has arrived. Funded: paid, payingOut, completed. Closed: expired, or held for the reason of a bounce, refunding,
 * refunded.
 */
export const situations = [
  'waiting',
  'timeUp',
  'detected',
  'confirming',
  'underpaid',
  'paid',
  'payingOut',
  'completed',
  'expired',
  'late',
  'wrongToken',
  'wrongChain',
  'otherSender',
  'tooLow',
  'tooHigh',
  'unpayable',
  'refunding',
  'refunded',
] as const;
export type SituationKind = (typeof situations)[number];

/** Whole tokens as a decimal text. */
export interface Sum {
  readonly amount: string;
  readonly tokenSymbol: TokenSymbol;
}

/** Money that arrived and does not count. */
export interface HeldMoney extends Sum {
  /**
   * excess: more than agreed. elsewhere: from a source other than the one in force; sources do not add up. The others are reasons why a
   * whole transfer does not count.
   */
  readonly reason: 'excess' | 'elsewhere' | Exclude<Standing, 'counted'>;
  readonly chainId: ChainId;
}

/** Depth of the money in its chain: number of blocks on top of its own. */
export interface Depth {
  readonly confirmations: number;
  /** Null if the chain itself reports finality. */
  readonly needed: number | null;
}

export interface Situation {
  readonly kind: SituationKind;
  /** True if money that is sent now can still count. */
  readonly open: boolean;
  /** Counted money that has arrived; null for none. */
  readonly received: Sum | null;
  /** Amount still due; null if nothing is, or if the payer chooses the amount. */
  readonly missing: Sum | null;
  /** Depth of the counted money that is not final yet. */
  readonly depth: Depth | null;
  readonly held: readonly HeldMoney[];
  /** True if a transfer's block has left the chain and the transfer has not returned: a second payment could pay twice. */
  readonly gone: boolean;
}

/** Known facts about the payment's own chain. */
export interface ChainFacts {
  /** Newest block that was read; null before the first one. */
  readonly head: bigint | null;
  /** Depth that makes a payin of this size final; null if the chain itself reports finality. */
  readonly needed: number | null;
}

export function situationOf(p: Payment, now: Instant, chain: ChainFacts): Situation {
  const { token } = p.terms.source;
  const sum = sumOf(counted(p));
  const needed = amountDue(p);
  const depth = depthOf(p, chain);
  const { source, limits } = p.terms;
  const isShort = needed !== null && sum < dueFrom(p.terms, { ...source, limits });
  const due = isShort ? needed - sum : 0n;
  return {
    kind: kindOf(p, now, { sum, depth, short: isShort }),
    open: !p.closed && !p.funded && now <= p.terms.expiresAt,
    received: sum > 0n ? sumText(sum, token) : null,
    missing: !p.closed && !p.funded && isShort ? sumText(due, token) : null,
    depth,
    held: heldOf(p),
    gone: sum === 0n && !p.closed && p.payins.some(({ phase }) => phase === 'orphaned'),
  };
}

/** Minimum that pays the payment: the agreed amount, or the minimum accepted. */
const amountDue = ({ terms }: Payment): bigint | null => {
  const least = terms.source.amount ?? terms.limits?.min ?? null;
  return least === null ? null : BigInt(least);
};

const sumText = (amount: bigint, { symbol, decimals }: TokenRef): Sum => ({
  amount: formatAmount(amount, decimals),
  tokenSymbol: symbol,
});

interface Counted {
  readonly sum: bigint;
  readonly depth: Depth | null;
  /** True if less than the amount due. */
  readonly short: boolean;
}

function kindOf(p: Payment, now: Instant, money: Counted): SituationKind {
  if (p.closed) return closedKind(p);
  if (p.payout?.settled) return 'completed';
  if (p.payout && p.payout.attempts.length > 0) return 'payingOut';
  if (p.funded) return 'paid';
  if (money.sum > 0n) {
    if (money.short) return now <= p.terms.expiresAt ? 'underpaid' : 'timeUp';
    return money.depth && money.depth.confirmations > 0 ? 'confirming' : 'detected';
  }
  return strayKind(p) ?? (now <= p.terms.expiresAt ? 'waiting' : 'timeUp');
}

const kindsOfBounces: Readonly<Record<BounceCode, SituationKind>> = {
  amountTooLow: 'tooLow',
  amountTooHigh: 'tooHigh',
  latePayin: 'late',
  wrongToken: 'wrongToken',
  wrongChain: 'wrongChain',
  otherSender: 'otherSender',
  payoutImpossible: 'unpayable',
};

function closedKind(p: Payment): SituationKind {
  if (p.refunds.some(isUnderWay)) return 'refunding';
  if (isWhollyRefunded(p)) return 'refunded';
  if (p.closed?.kind === 'bounced') return kindsOfBounces[p.closed.code];
  return strayKind(p) ?? 'expired';
}

/** If no money counts: why the newest transfer does not. */
function strayKind(p: Payment): SituationKind | undefined {
  const standing = onChain(p).findLast((payin) => payin.standing !== 'counted')?.standing;
  return standing === 'surplus' || standing === 'counted' ? undefined : standing;
}

const onChain = ({ payins }: Payment): readonly Payin[] =>
  payins.filter(({ phase }) => phase === 'detected' || phase === 'confirmed');

/** Depth of the shallowest counted transfer that is not final. */
function depthOf(p: Payment, { head, needed }: ChainFacts): Depth | null {
  const waiting = counted(p).filter(({ phase }) => phase === 'detected');
  const blocks = waiting.map(({ transfer }) => BigInt(transfer.blockNumber));
  const newest = blocks.toSorted((a, b) => Number(b - a))[0];
  if (newest === undefined || p.funded) return null;
  const above = head === null || head < newest ? 0 : Number(head - newest);
  return { confirmations: needed === null ? above : Math.min(above, needed), needed };
}

/** Held money without the ordered refunds, which reduce the oldest money first. */
function heldOf(p: Payment): readonly HeldMoney[] {
  const back = new Map<string, bigint>();
  for (const refund of p.refunds) {
    const asset = assetOf(refund.order);
    back.set(asset, (back.get(asset) ?? 0n) + takenBy(refund));
  }
  const held = [
    ...(p.funded && p.funded.excess > 0n
      ? [{ reason: 'excess', amount: p.funded.excess, of: p.terms.source } as const]
      : []),
    ...onChain(p).flatMap((payin) => {
      const reason = whyHeld(p, payin);
      return reason ? [{ reason, amount: payin.amount, of: payin.transfer }] : [];
    }),
  ];
  return held.flatMap(({ reason, amount, of }) => {
    const gone = smaller(amount, back.get(assetOf(of)) ?? 0n);
    back.set(assetOf(of), (back.get(assetOf(of)) ?? 0n) - gone);
    return amount > gone ? [{ reason, ...sumText(amount - gone, of.token), chainId: of.chainId }] : [];
  });
}

/** Counted money of a source that did not fund the payment is held as `elsewhere`. */
function whyHeld({ terms }: Payment, { standing, transfer }: Payin): HeldMoney['reason'] | undefined {
  if (standing !== 'counted' && standing !== 'surplus') return standing;
  if (!isSameAsset(terms.source, transfer)) return 'elsewhere';
  return standing === 'surplus' ? 'surplus' : undefined;
}

interface Asset {
  readonly chainId: ChainId;
  readonly token: TokenRef;
}

const assetOf = ({ chainId, token }: Asset): string => `${chainId} ${token.address}`;
