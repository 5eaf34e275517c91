/** Refundable and refunded money of a payment. */
import type { ChainId } from '../chains.ts';
import type { TokenRef } from './events.ts';
import { type Funding, sumOf } from './sources.ts';
import type { Payment, Refund } from './state.ts';

/** Money of a payment that no payout will use. */
export interface Refundable {
  readonly reason: Refund['reason'];
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly amount: bigint;
}

/** Remaining refundable amounts, one per chain and token, less the ordered refunds. */
export function refundable(p: Payment): readonly Refundable[] {
  const owed = new Map<string, Refundable>();
  const add = (entry: Refundable) => {
    const key = `${entry.chainId}:${entry.token.address}`;
    const known = owed.get(key);
    owed.set(key, known ? { ...known, amount: known.amount + entry.amount } : entry);
  };
  const { chainId, token } = p.terms.source;
  const bounced = p.closed?.kind === 'bounced';
  for (const payin of p.payins.filter(({ phase }) => phase === 'confirmed')) {
    if (payin.standing === 'counted' && !bounced) continue;
    const reason = bounced ? 'bounced' : 'held';
    add({ reason, chainId: payin.transfer.chainId, token: payin.transfer.token, amount: payin.amount });
  }
  if (p.funded && !bounced) add({ reason: 'excess', chainId, token, amount: leftOver(p.funded, p) });
  for (const refund of p.refunds) {
    const { chainId, token } = refund.order;
    add({ reason: refund.reason, chainId, token, amount: -takenBy(refund) });
  }
  return [...owed.values()].filter(({ amount }) => amount > 0n);
}

/**
 * Amount above the agreed one that is still on its chain. An orphaned payin reduces it first. Below zero, other held money of the same
 * token covers the payout until the payin returns or the payout is called off.
 */
function leftOver({ excess, transferIds }: Funding, p: Payment): bigint {
  return excess - sumOf(p.payins.filter(({ id, phase }) => transferIds.includes(id) && phase !== 'confirmed'));
}

/** True if all received money, less network fees, was refunded and is final. */
export const isWhollyRefunded = (p: Payment): boolean =>
  p.refunds.some(({ settled }) => settled) && !p.refunds.some(isUnderWay) && refundable(p).length === 0;

/** True if ordered and neither final nor called off. */
export const isUnderWay = ({ settled, calledOff }: Pick<Refund, 'settled' | 'calledOff'>): boolean =>
  settled === null && calledOff === null;

/** Amount that a refund takes from the held money: the sent amount and its network fee. Zero once called off. */
export const takenBy = (refund: Pick<Refund, 'order' | 'networkFee' | 'calledOff'>): bigint =>
  refund.calledOff === null ? orderedBy(refund) : 0n;

/** Amount that a refund was ordered for, whatever its outcome. */
export const orderedBy = ({ order, networkFee }: Pick<Refund, 'order' | 'networkFee'>): bigint =>
  order.amount + networkFee;
