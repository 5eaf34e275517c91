/** What can go back of a payment, and what has. */
import type { ChainId } from '../chains.ts';
import type { TokenRef } from './events.ts';
import { type Funding, sumOf } from './sources.ts';
import type { Payment, Refund } from './state.ts';

/** Money of a payment that no payout will use: it can only go back. */
export interface Refundable {
  readonly reason: Refund['reason'];
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly amount: bigint;
}

/** What is still to go back, one entry per chain and token; what was already requested is taken off. */
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
 * What is over the agreed amount, as long as the money is there: a payin that left its chain takes from it first. Below zero once that is
 * used up: then what else is held in the same token stands for what was paid out, until the payin is back or the payout is called off.
 */
function leftOver({ excess, transferIds }: Funding, p: Payment): bigint {
  return excess - sumOf(p.payins.filter(({ id, phase }) => transferIds.includes(id) && phase !== 'confirmed'));
}

/** Whether everything that came has gone back, final on its chain, but for what it cost to send it. */
export const isWhollyRefunded = (p: Payment): boolean =>
  p.refunds.some(({ settled }) => settled) && !p.refunds.some(isUnderWay) && refundable(p).length === 0;

/** Ordered, and neither final on its chain nor called off. */
export const isUnderWay = ({ settled, calledOff }: Pick<Refund, 'settled' | 'calledOff'>): boolean =>
  settled === null && calledOff === null;

/** What a refund takes of the money that is held: what is sent, and what sending it costs. Nothing once it is called off. */
export const takenBy = (refund: Pick<Refund, 'order' | 'networkFee' | 'calledOff'>): bigint =>
  refund.calledOff === null ? orderedBy(refund) : 0n;

/** The same, whatever became of it. */
export const orderedBy = ({ order, networkFee }: Pick<Refund, 'order' | 'networkFee'>): bigint =>
  order.amount + networkFee;
