/** Refund addresses that a person of the app confirms, for senders that cannot sign: an exchange sends for its customers. */
import { type Decision, refuse } from '../decider.ts';
import { type Instant, plus } from '../time.ts';
import type { PaymentEvent } from './events.ts';
import { payinsOf } from './refundAddress.ts';
import type { ConfirmedAddress, Payment, PaymentState } from './state.ts';

/** Maximum confirmations of one payment. */
export const confirmationsMax = 20;

export type { ConfirmedAddress };

/** Address in its chain's spelling. */
export interface AddressToConfirm {
  readonly sender: string;
  readonly transferId: string;
  readonly address: string;
  readonly memo: string | null;
  /** The person: the cause of the event. */
  readonly by: string;
  /** Time between the confirmation and the first refund to the address: the app's people notice a wrong address and withdraw it. */
  readonly delay_ms: number;
  readonly now: Instant;
}

/** A later confirmation for the same sender and chain replaces the earlier one at once, so the delay begins again. */
export function confirmRefundAddress(p: PaymentState, asked: AddressToConfirm): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const { sender, transferId, address, memo, by, delay_ms, now } = asked;
  if (!payinsOf(p, sender).some(({ id }) => id === transferId))
    return refuse('invalidRequest', 'must be a sender of money to this payment', '/sender');
  const former = confirmedFor(p, sender, chainIn(transferId));
  if (former?.address === address && former.memo === memo) return [];
  if (p.confirmedAddresses.length >= confirmationsMax)
    return refuse('conflict', `an address was confirmed ${confirmationsMax} times for this payment: ask the operator`);
  const number = p.confirmedAddresses.length + 1;
  const effectiveAt = plus(now, delay_ms);
  return [
    {
      type: 'RefundAddressConfirmed',
      data: { number, sender, transferId, address, memo, confirmedBy: by, confirmedAt: now, effectiveAt },
    },
  ];
}

/** Withdraws a confirmation, also after its delay: no refund is ordered to the address from then on. */
export function withdrawRefundAddress(
  p: PaymentState,
  number: number,
  by: string,
  now: Instant,
): Decision<PaymentEvent> {
  const known = p?.confirmedAddresses.find((each) => each.number === number);
  if (!known) return refuse('notFound', 'the payment has no confirmed address with this number', '/number');
  if (known.withdrawn) return [];
  return [{ type: 'RefundAddressWithdrawn', data: { number, withdrawnBy: by, withdrawnAt: now } }];
}

/** The confirmation in force for a sender on a chain, also during its delay; undefined without one. */
export const confirmedFor = (
  { confirmedAddresses }: Pick<Payment, 'confirmedAddresses'>,
  sender: string,
  chainId: number | string,
): ConfirmedAddress | undefined => {
  const latest = confirmedAddresses.findLast(
    (each) => each.sender === sender && chainIn(each.transferId) === String(chainId),
  );
  return latest?.withdrawn ? undefined : latest;
};

/** Chain of a transfer id. */
const chainIn = (transferId: string): string => transferId.split(':')[0] ?? '';
