/** Result of a payer's authorization for the payer and the payer's program. The payment's own payins decide, not the relay. */
import type { Transfer } from '../payment/events.ts';
import type { Payin } from '../payment/sources.ts';
import type { Payment } from '../payment/state.ts';
import type { RelayEnd, RelayOrdered } from './events.ts';
import { isRelayOpen, type Relay, relayHashOf } from './relay.ts';

export type RelayResult =
  /** The payer's money has funded the payment. */
  | { readonly kind: 'paid'; readonly hash: string }
  /** The money moves, or may move: the same authorization gets its result later. `hash`: null before a transaction is signed. */
  | { readonly kind: 'pending'; readonly hash: string | null }
  /** The authorization has not paid and will not. `hash`: of a transaction that moved the money all the same; it is held for a refund. */
  | {
      readonly kind: 'failed';
      readonly reason: RelayEnd | 'late';
      readonly detail: string;
      readonly hash: string | null;
    };

type MovedMoney = Pick<RelayOrdered, 'chainId' | 'token' | 'amount'> & { readonly form: { readonly payer: string } };

/** True if a transfer moves the authorized money: another party sent the authorization, or the payer made an equal transfer. */
export const isPaidBy = (transfer: Transfer, { chainId, token, amount, form }: MovedMoney): boolean =>
  transfer.chainId === chainId &&
  transfer.token.address === token.address &&
  transfer.from === form.payer &&
  transfer.amount === amount;

/** The payer's transfer among those that are on their chain as far as is known. */
export const payinOf = ({ payins }: Payment, ordered: MovedMoney): Payin | undefined =>
  payins.find(({ phase, transfer }) => (phase === 'detected' || phase === 'confirmed') && isPaidBy(transfer, ordered));

export function relayResultOf(payment: Payment, relay: Relay): RelayResult {
  const own = payinOf(payment, relay.ordered);
  const hash = own?.transfer.txHash ?? relayHashOf(relay);
  if (own && payment.funded?.transferIds.includes(own.id)) return { kind: 'paid', hash: own.transfer.txHash };
  const { ended } = relay;
  if (payment.closed || payment.funded) return overBefore(payment, relay, hash);
  if (own || isRelayOpen(relay) || relay.leg.settled || ended?.reason === 'superseded')
    return { kind: 'pending', hash };
  if (ended) return { kind: 'failed', reason: ended.reason, detail: ended.detail, hash: null };
  return { kind: 'failed', reason: 'refused', detail: 'less than was authorized reached the deposit', hash };
}

/** The payment was paid in another way, or has ended. A transaction that can still land is reported as pending, because it has not failed yet. */
function overBefore(payment: Payment, relay: Relay, hash: string | null): RelayResult {
  if (isRelayOpen(relay)) return { kind: 'pending', hash };
  const { ended } = relay;
  if (ended && hash === null) return { kind: 'failed', reason: ended.reason, detail: ended.detail, hash };
  return payment.funded
    ? { kind: 'failed', reason: 'paid', detail: 'the payment was paid by other money', hash }
    : { kind: 'failed', reason: 'late', detail: 'the money arrived after the payment was over', hash };
}
