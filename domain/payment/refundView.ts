/** What the world sees of a payment's refunds. */
import type { ChainId, TokenSymbol } from '../chains.ts';
import { formatAmount } from '../money.ts';
import type { Instant } from '../time.ts';
import { liveAttempts } from '../transfer/leg.ts';
import type { RefundAsker } from './refundShapes.ts';
import type { Payment, Refund } from './state.ts';

/** ordered: nothing is signed. sent: a signed transfer can land. completed: final on its chain. calledOff: it is not sent. */
export const refundStatuses = ['ordered', 'sent', 'completed', 'calledOff'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/** JSON, amounts as decimal texts of whole tokens. */
export interface RefundView {
  /** 1, 2, … of the payment's. */
  readonly refund: number;
  readonly status: RefundStatus;
  readonly reason: Refund['reason'];
  readonly chainId: ChainId;
  readonly tokenSymbol: TokenSymbol;
  readonly tokenAddress: string;
  /** What is sent; what it costs to send is taken off besides. */
  readonly amount: string;
  readonly networkFee: string;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
  /** Null in older ones. */
  readonly requestedBy: RefundAsker | null;
  readonly requestedAt: Instant;
  /** Of the transfer that settled it, else of the latest that can. */
  readonly txHash: string | null;
  readonly confirmedAt: Instant | null;
}

export const refundViews = ({ refunds }: Pick<Payment, 'refunds'>): readonly RefundView[] => refunds.map(refundView);

function statusOf(refund: Refund): RefundStatus {
  if (refund.settled) return 'completed';
  if (refund.calledOff !== null) return 'calledOff';
  return liveAttempts(refund).length > 0 ? 'sent' : 'ordered';
}

export function refundView(refund: Refund): RefundView {
  const { order, settled, request } = refund;
  const { symbol, address, decimals } = order.token;
  const live = liveAttempts(refund).at(-1);
  return {
    refund: refund.refund,
    status: statusOf(refund),
    reason: refund.reason,
    chainId: order.chainId,
    tokenSymbol: symbol,
    tokenAddress: address,
    amount: formatAmount(order.amount, decimals),
    networkFee: formatAmount(refund.networkFee, decimals),
    receiverAddress: order.receiver,
    receiverMemo: order.receiverMemo,
    requestedBy: request.requestedBy ?? null,
    requestedAt: refund.requestedAt,
    txHash: settled?.hash ?? live?.hash ?? null,
    confirmedAt: settled?.confirmedAt ?? null,
  };
}
