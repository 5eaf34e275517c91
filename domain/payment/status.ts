import { counted, type Payment } from './state.ts';

export const paymentStatuses = [
  'payment_unpaid',
  'payment_started',
  'payment_payin_completed',
  'payment_bridging',
  'payment_payout_started',
  'payment_payout_completed',
  'payment_completed',
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
] as const;

export type PaymentStatus = (typeof paymentStatuses)[number];

/** A poller may stop here, though a late payin can still move an expired payment to bounced and on to refunded. */
export const terminalStatuses: readonly PaymentStatus[] = [
  'payment_payout_completed',
  'payment_completed',
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
];

/** The public status (service reference 3), derived and never stored as a fact of its own. */
export function statusOf(p: Payment): PaymentStatus {
  if (p.closed)
    return p.closed.kind === 'expired' ? 'payment_expired' : whollyRefunded(p) ? 'payment_refunded' : 'payment_bounced';
  const sameChain = p.terms.source.chainId === p.terms.destination.chainId;
  if (p.payout?.settled) return p.terms.keyless && sameChain ? 'payment_completed' : 'payment_payout_completed';
  if (p.payout && p.payout.attempts.length > 0) return 'payment_payout_started';
  if (p.payout && !sameChain) return 'payment_bridging';
  if (p.funded) return 'payment_payin_completed';
  return counted(p).length > 0 ? 'payment_started' : 'payment_unpaid';
}

/** Everything that a bounced payment received has gone back, final on its chain. */
function whollyRefunded(p: Payment): boolean {
  const confirmed = p.payins.filter((payin) => payin.phase === 'confirmed');
  const back = p.refunds.filter((refund) => refund.settled).reduce((sum, refund) => sum + refund.order.amount, 0n);
  return confirmed.length > 0 && back === confirmed.reduce((sum, payin) => sum + payin.amount, 0n);
}
