import { formatAmount } from '../domain/money.ts';
import { transferId } from '../domain/payment/events.ts';
import type { TransferLeg } from '../domain/transfer/leg.ts';
import { ofStates, upsert } from './projection.ts';

/** In a word that operators read. */
function standingOf({ settled, short, attempts }: TransferLeg): string {
  if (settled) return 'done';
  if (short) return 'short';
  return attempts.length > 0 ? 'signed' : 'ordered';
}

/** Transfers that no payment takes up, and what was decided about each. */
export const unmatched = ofStates(
  'unmatched',
  'unmatched',
  ({ after: { transfer, beyond, seenAt, verdict, refund: leg } }) => {
    const assigned = verdict.kind === 'assigned' ? verdict : null;
    const refund = verdict.kind === 'refundRequested' ? verdict : null;
    const row = {
      transfer_id: transferId(transfer),
      chain_id: transfer.chainId,
      tx_hash: transfer.txHash,
      index: transfer.index,
      block_number: transfer.blockNumber,
      block_time: transfer.blockTime,
      token_symbol: transfer.token.symbol,
      token_address: transfer.token.address,
      from_address: transfer.from,
      to_address: transfer.to,
      memo: transfer.memo,
      amount: formatAmount(BigInt(transfer.amount), transfer.token.decimals),
      beyond_payment: beyond?.paymentId,
      seen_at: seenAt,
      verdict: verdict.kind,
      decided_at: assigned?.assignedAt ?? refund?.requestedAt,
      payment_id: assigned?.paymentId,
      app_id: assigned?.appId,
      refund_address: refund?.receiverAddress,
      refund_memo: refund?.receiverMemo,
      refund_reason: refund?.reason,
      refund_amount: leg ? formatAmount(leg.order.amount, leg.order.token.decimals) : undefined,
      refund_standing: leg ? standingOf(leg) : undefined,
      refund_tx_hash: leg?.attempts.at(-1)?.signed.hash,
    };
    return [upsert('unmatched', row)];
  },
);
