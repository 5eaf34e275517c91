/** What is known of a payment's payins once one was seen, has moved, left its chain or funded the payment. */
import { type Paid, type Payin, standingOf } from './counting.ts';
import { type Transfer, transferId } from './events.ts';

/** A transfer seen again replaces what was known of it: its block may be another one. */
export function withPayin(p: Paid, transfer: Transfer, phase: Payin['phase']): readonly Payin[] {
  const id = transferId(transfer);
  const seen = { id, transfer, amount: BigInt(transfer.amount), standing: standingOf(p, transfer), phase };
  return p.payins.some((known) => known.id === id)
    ? p.payins.map((known) => (known.id === id ? { ...seen, moves: known.moves } : known))
    : [...p.payins, { ...seen, moves: 0 }];
}

export const withPhase = (payins: readonly Payin[], id: string, phase: Payin['phase']): readonly Payin[] =>
  payins.map((payin) => (payin.id === id ? { ...payin, phase } : payin));

export const orphaned = (payins: readonly Payin[], id: string): readonly Payin[] =>
  withPhase(payins, id, 'orphaned').map((payin) => (payin.id === id ? { ...payin, moves: payin.moves + 1 } : payin));

/** Once a payment is funded, what funded it counts and what counted before is held: the log's word stands, whatever the rule is now. */
export const withSurplus = (payins: readonly Payin[], funding: readonly string[]): readonly Payin[] =>
  payins.map((payin) => {
    if (funding.includes(payin.id)) return { ...payin, standing: 'counted' };
    return payin.standing === 'counted' ? { ...payin, standing: 'surplus' } : payin;
  });
