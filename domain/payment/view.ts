/** The one view of a payment: the read model's row, the answer of GET, the data of a webhook are all made from it. */
import type { ChainId, TokenSymbol } from '../chains.ts';
import { formatAmount } from '../money.ts';
import type { Instant } from '../time.ts';
import type { BounceCode, PaymentType } from './events.ts';
import type { Intent } from './intent.ts';
import { counted, type Payin, type Payment, type Standing, sumOf } from './state.ts';
import type { PaymentStatus } from './status.ts';
import { statusOf } from './status.ts';
import type { Attempt, TransferLeg } from './transfer.ts';

/** Flat, JSON, amounts as decimal texts, times ISO 8601 UTC. Null where nothing is known yet. */
export interface PaymentView {
  readonly paymentId: string;
  readonly appId: string;
  readonly orderId: string | null;
  readonly status: PaymentStatus;
  readonly errorCode: BounceCode | null;
  readonly errorMessage: string | null;
  readonly type: PaymentType;
  readonly intent: Intent | null;
  readonly keyless: boolean;
  readonly title: string | null;
  readonly description: string | null;
  readonly currency: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly webhookUrl: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly expiresAt: Instant;
  readonly sourceChainId: ChainId;
  readonly sourceTokenSymbol: TokenSymbol;
  readonly sourceTokenAddress: string;
  /** What the customer pays, fee included; null for anyAmount until funded. */
  readonly sourceAmount: string | null;
  readonly sourceFee: string | null;
  readonly depositAddress: string;
  readonly depositMemo: string | null;
  readonly depositContract: string | null;
  readonly depositContractMemo: string | null;
  readonly senderAddress: string | null;
  readonly payinTxHash: string | null;
  readonly amountReceived: string | null;
  readonly payinConfirmedAt: Instant | null;
  readonly destinationChainId: ChainId;
  readonly destinationTokenSymbol: TokenSymbol;
  readonly destinationTokenAddress: string;
  readonly destinationAmount: string | null;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
  readonly payoutTxHash: string | null;
  readonly payoutConfirmedAt: Instant | null;
}

/** @param updatedAt when the last folded event was written */
export function viewOf(p: Payment, updatedAt: Instant): PaymentView {
  const { terms } = p;
  return {
    paymentId: terms.paymentId,
    appId: terms.appId,
    orderId: terms.orderId,
    status: statusOf(p),
    ...errorOf(p),
    type: terms.type,
    intent: terms.intent,
    keyless: terms.keyless,
    title: terms.display.title,
    description: terms.display.description,
    currency: terms.display.currency,
    metadata: terms.metadata,
    webhookUrl: terms.webhookUrl,
    createdAt: terms.createdAt,
    updatedAt,
    expiresAt: terms.expiresAt,
    ...sourceOf(p),
    ...destinationOf(p),
  };
}

function sourceOf(p: Payment) {
  const { source, fee, deposit } = p.terms;
  const amount = (units: bigint | string | null | undefined) =>
    units === null || units === undefined ? null : formatAmount(BigInt(units), source.token.decimals);
  const payins = counted(p);
  const first = payins[0];
  return {
    sourceChainId: source.chainId,
    sourceTokenSymbol: source.token.symbol,
    sourceTokenAddress: source.token.address,
    sourceAmount: amount(source.amount ?? p.funded?.sourceAmount),
    sourceFee: amount(fee.amount ?? p.funded?.fee),
    depositAddress: deposit.address,
    depositMemo: deposit.memo,
    depositContract: deposit.contract,
    depositContractMemo: deposit.contractMemo,
    senderAddress: first?.transfer.from ?? p.registered?.senderAddress ?? source.senderAddress,
    payinTxHash: first?.transfer.txHash ?? p.registered?.txHash ?? null,
    amountReceived: payins.length > 0 ? amount(sumOf(payins)) : null,
    payinConfirmedAt: p.funded?.fundedAt ?? null,
  };
}

function destinationOf(p: Payment) {
  const { destination } = p.terms;
  const units = destination.amount ?? p.funded?.payout;
  const settled = p.payout?.settled;
  return {
    destinationChainId: destination.chainId,
    destinationTokenSymbol: destination.token.symbol,
    destinationTokenAddress: destination.token.address,
    destinationAmount: units === undefined ? null : formatAmount(BigInt(units), destination.token.decimals),
    receiverAddress: destination.receiverAddress,
    receiverMemo: destination.receiverMemo,
    payoutTxHash: settled?.hash ?? p.payout?.attempts.findLast(({ fate }) => fate === 'live')?.signed.hash ?? null,
    payoutConfirmedAt: settled?.confirmedAt ?? null,
  };
}

const messages = {
  amountTooLow:
    'Less than the agreed or the least accepted amount arrived in time. The money is held and can be refunded.',
  amountTooHigh: 'More than the accepted limit arrived. The money is held and can be refunded.',
  latePayin: 'The money arrived after the payment had expired. It is held and can be refunded.',
  wrongToken: 'Another token than the agreed one arrived. It is held and can be refunded.',
  wrongChain: 'The money arrived on another chain than agreed. It is held and can be refunded.',
  payoutImpossible: 'The destination cannot be paid. The money is held and can be refunded.',
} as const;

function errorOf(p: Payment): Pick<PaymentView, 'errorCode' | 'errorMessage'> {
  return p.closed?.kind === 'bounced'
    ? { errorCode: p.closed.code, errorMessage: messages[p.closed.code] }
    : { errorCode: null, errorMessage: null };
}

/** Transfers of a payment, for GET …/transactions and analysts. */
export interface PaymentTransaction {
  readonly kind: 'payin' | 'payout' | 'refund';
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly index: number;
  /** Of a payin how far it is, of a payout or refund what became of the attempt. */
  readonly status: Payin['phase'] | Attempt['fate'];
  /** Null for what is no payin. */
  readonly standing: Standing | null;
  readonly tokenSymbol: TokenSymbol;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly blockNumber: string | null;
  readonly blockHash: string | null;
  readonly at: Instant;
}

export function transactionsOf(p: Payment): readonly PaymentTransaction[] {
  return [
    ...p.payins.map(payinRow),
    ...(p.payout ? attemptRows('payout', p.payout) : []),
    ...p.refunds.flatMap((refund) => attemptRows('refund', refund)),
  ];
}

const attemptRows = (kind: 'payout' | 'refund', leg: TransferLeg): readonly PaymentTransaction[] =>
  leg.attempts.map(({ signed, fate }) => {
    const settled = leg.settled?.hash === signed.hash ? leg.settled : null;
    return {
      kind,
      chainId: signed.chainId,
      txHash: signed.hash,
      index: signed.attempt,
      status: fate,
      standing: null,
      tokenSymbol: signed.token.symbol,
      tokenAddress: signed.token.address,
      amount: formatAmount(BigInt(signed.amount), signed.token.decimals),
      fromAddress: signed.account,
      toAddress: signed.receiver,
      blockNumber: settled?.blockNumber ?? null,
      blockHash: settled?.blockHash ?? null,
      at: signed.signedAt,
    };
  });

const payinRow = ({ transfer, standing, phase, amount }: Payin): PaymentTransaction => ({
  kind: 'payin',
  chainId: transfer.chainId,
  txHash: transfer.txHash,
  index: transfer.index,
  status: phase,
  standing,
  tokenSymbol: transfer.token.symbol,
  tokenAddress: transfer.token.address,
  amount: formatAmount(amount, transfer.token.decimals),
  fromAddress: transfer.from,
  toAddress: transfer.to,
  blockNumber: transfer.blockNumber,
  blockHash: transfer.blockHash,
  at: transfer.blockTime,
});
