/** The money that came in and that a transfer of the payment is made from. */
import { type Payin, sumOf } from './counting.ts';
import { takenBy } from './refund.ts';
import { type Asset, isSameAsset } from './sources.ts';
import type { Payment, Refund } from './state.ts';

export interface Backing {
  readonly payins: readonly Payin[];
  /** What they must come to, in units of their token; 0 for what is made of no money that came in. */
  readonly needed: bigint;
}

/** What funded the payment. Of a withdrawal of cashback nothing came in. */
export function payoutBacking({ terms, funded, payins }: Payment): Backing {
  if (!funded || funded.rule === 'cashback') return { payins: [], needed: 0n };
  const funding = ({ id, transfer }: Payin) => funded.transferIds.includes(id) && isSameAsset(transfer, terms.source);
  return { payins: payins.filter(funding), needed: funded.received };
}

/** All that came of a refund's asset must cover what is to go back of it and what is paid out from it. */
export function refundBacking(p: Payment, asset: Asset): Backing {
  const payins = p.payins.filter(({ phase, transfer }) => phase === 'confirmed' && isSameAsset(transfer, asset));
  const back = p.refunds.filter((each) => isSameAsset(each.order, asset));
  const returned = back.reduce((sum, each) => sum + takenBy(each), 0n);
  return { payins, needed: returned + paidOutFrom(p, asset) };
}

function paidOutFrom({ terms, funded, closed }: Payment, asset: Asset): bigint {
  if (!funded || funded.rule === 'cashback' || closed || !isSameAsset(terms.source, asset)) return 0n;
  return funded.received - funded.excess;
}

/** Nothing is signed for a refund then. What is signed can still land. */
export function lostBacking(p: Payment, { order }: Pick<Refund, 'order'>): boolean {
  const { payins, needed } = refundBacking(p, order);
  return sumOf(payins) < needed;
}
