/** A payment as its payer meets it: where it stands, what is still to be done, and whose money is held. One word for each screen. */
import type { ChainId, TokenSymbol } from '../chains.ts';
import { formatAmount, smaller } from '../money.ts';
import type { Instant } from '../time.ts';
import type { BounceCode, TokenRef } from './events.ts';
import { isUnderWay, isWhollyRefunded, takenBy } from './refund.ts';
import { counted, dueFrom, isSameAsset, type Payin, type Standing, sumOf } from './sources.ts';
import type { Payment } from './state.ts';

/**
 * Open: waiting, timeUp (the last blocks are still looked through), detected, confirming, underpaid; wrongToken, wrongChain, otherSender and late when
 * only such money has come. Funded: paid, payingOut, completed. Closed: expired, or held for the reason of a bounce, refunding, refunded.
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

/** Money that came and does not pay for anything, as it stands. */
export interface Held extends Sum {
  /**
   * excess: more than agreed. elsewhere: from another source than the payment is paid from; what comes from two does not add up. The
   * others are why a whole transfer does not count.
   */
  readonly reason: 'excess' | 'elsewhere' | Exclude<Standing, 'counted'>;
  readonly chainId: ChainId;
}

/** How deep the money is in its chain: blocks on top of its own. */
export interface Depth {
  readonly confirmations: number;
  /** Null where the chain itself says when it is final. */
  readonly needed: number | null;
}

export interface Situation {
  readonly kind: SituationKind;
  /** Whether money that is sent now can still count. */
  readonly open: boolean;
  /** What has come and counts; null for none. */
  readonly received: Sum | null;
  /** What is still to be sent; null when nothing is, or when the payer chooses the amount. */
  readonly missing: Sum | null;
  /** Of the counted money that is not final yet. */
  readonly depth: Depth | null;
  readonly held: readonly Held[];
  /** A transfer's block has left the chain and the transfer has not come again: paying again could pay twice. */
  readonly gone: boolean;
}

/** What is known of the payment's own chain. */
export interface ChainFacts {
  /** Its newest block that has been read; null before any was. */
  readonly head: bigint | null;
  /** Blocks on top that make a payin of this size final; null where the chain itself says. */
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

/** The least that pays the payment: what was agreed, or the least that is accepted. */
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
  /** Less than what is due. */
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

/** When all that came is money that does not count: why the newest of it does not. */
function strayKind(p: Payment): SituationKind | undefined {
  const standing = onChain(p).findLast((payin) => payin.standing !== 'counted')?.standing;
  return standing === 'surplus' || standing === 'counted' ? undefined : standing;
}

const onChain = ({ payins }: Payment): readonly Payin[] =>
  payins.filter(({ phase }) => phase === 'detected' || phase === 'confirmed');

/** Of the shallowest transfer that counts and is not final. */
function depthOf(p: Payment, { head, needed }: ChainFacts): Depth | null {
  const waiting = counted(p).filter(({ phase }) => phase === 'detected');
  const blocks = waiting.map(({ transfer }) => BigInt(transfer.blockNumber));
  const newest = blocks.toSorted((a, b) => Number(b - a))[0];
  if (newest === undefined || p.funded) return null;
  const above = head === null || head < newest ? 0 : Number(head - newest);
  return { confirmations: needed === null ? above : Math.min(above, needed), needed };
}

/** What is not ordered back already: that is taken off what came first. */
function heldOf(p: Payment): readonly Held[] {
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

/** What did not fund the payment from another source is held like what came there before. */
function whyHeld({ terms }: Payment, { standing, transfer }: Payin): Held['reason'] | undefined {
  if (standing !== 'counted' && standing !== 'surplus') return standing;
  if (!isSameAsset(terms.source, transfer)) return 'elsewhere';
  return standing === 'surplus' ? 'surplus' : undefined;
}

interface Asset {
  readonly chainId: ChainId;
  readonly token: TokenRef;
}

const assetOf = ({ chainId, token }: Asset): string => `${chainId} ${token.address}`;
