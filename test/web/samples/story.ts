/** The history of a payment: its story, its transactions, its webhooks. */
import type { PaymentTransaction } from '../../../domain/payment/transactions.ts';
import { minute_ms, plus } from '../../../domain/time.ts';
import type { Delivery } from '../../../queries/deliveries.ts';
import type { StoryEntry } from '../../../queries/paymentStory.ts';
import { ago, deposit, now, payer, payinHash, payoutHash, type Say, usdcOnBase, wallet } from './payments.ts';

export const money = (amount: string) => ({ amount, tokenSymbol: 'USDC' }) as const;
export const payin = {
  ...money('10.02'),
  chainId: 8453,
  txHash: payinHash,
  from: payer,
  blockNumber: '31204881',
  standing: 'counted',
} as const;
export const payout = { leg: 'payout', refund: null, attempt: 1, chainId: 42161, txHash: payoutHash } as const;

export const story: readonly StoryEntry[] = [
  {
    at: ago(73_000),
    status: 'payment_unpaid',
    type: 'created',
    pays: money('10.02'),
    gets: money('10.00'),
    sourceChainId: 8453,
    destinationChainId: 42161,
    expiresAt: plus(now, 14 * minute_ms),
  },
  { at: ago(53_130), status: 'payment_started', type: 'payinDetected', confirmations: 12, ...payin },
  { at: ago(33_000), status: 'payment_started', type: 'payinConfirmed', ...payin },
  {
    at: ago(32_990),
    status: 'payment_payin_completed',
    type: 'funded',
    rule: 'agreed',
    received: money('10.02'),
    fee: money('0.02'),
    excess: money('0.00'),
    dust: money('0.00'),
    payout: money('10.00'),
  },
  {
    at: ago(32_980),
    status: 'payment_bridging',
    type: 'ordered',
    leg: 'payout',
    refund: null,
    money: money('10.00'),
    chainId: 42161,
    receiverAddress: wallet,
    receiverMemo: null,
    reason: null,
    networkFee: null,
    requestedBy: null,
  },
  {
    at: ago(32_700),
    status: null,
    type: 'webhook',
    kind: 'automatic',
    deliveryId: '6b1c4e2f-97d0-8a3b-8c6e-8f214f1a77b2',
    eventType: 'payment_payin_completed',
    delivery: 'delivered',
    statusCode: 200,
    error: null,
    duration_ms: 81,
  },
  {
    at: ago(32_900),
    status: 'payment_payout_started',
    type: 'signed',
    account: payer,
    nonce: '4211',
    fate: 'settled',
    ...payout,
  },
  { at: ago(29_000), status: 'payment_payout_completed', type: 'settled', blockNumber: '401204881', ...payout },
  {
    at: ago(28_700),
    status: null,
    type: 'webhook',
    kind: 'automatic',
    deliveryId: '7b1c4e2f-97d0-8a3b-8c6e-8f214f1a77b2',
    eventType: 'payment_payout_completed',
    delivery: 'exhausted',
    statusCode: 502,
    error: null,
    duration_ms: 1_204,
  },
];

export const transactions: readonly PaymentTransaction[] = [
  {
    kind: 'payin',
    chainId: 8453,
    txHash: payinHash,
    index: 3,
    status: 'confirmed',
    standing: 'counted',
    tokenSymbol: 'USDC',
    tokenAddress: usdcOnBase,
    amount: '10.02',
    fromAddress: payer,
    toAddress: deposit,
    blockNumber: '31204881',
    blockHash: payinHash,
    at: ago(55_000),
  },
  {
    kind: 'payout',
    chainId: 42161,
    txHash: payoutHash,
    index: 1,
    status: 'settled',
    standing: null,
    tokenSymbol: 'USDC',
    tokenAddress: usdcOnBase,
    amount: '10.00',
    fromAddress: payer,
    toAddress: wallet,
    blockNumber: '401204881',
    blockHash: payoutHash,
    at: ago(32_900),
  },
];

export const delivery = (say: Say, changed: Partial<Delivery> = {}): Delivery => ({
  deliveryId: '6b1c4e2f-97d0-8a3b-8c6e-8f214f1a77b2',
  paymentId: '51e61f19-6faf-864c-aaec-b8f58c1ad314',
  eventType: 'payment_payin_completed',
  statusCode: 200,
  responsePreview: say('{"received":true}'),
  deliveredAt: ago(32_700),
  status: 'delivered',
  attemptNumber: 1,
  kind: 'automatic',
  firstDeliveryId: null,
  url: say('https://shop.teahouse.example/webhooks'),
  endpointId: null,
  error: null,
  startedAt: ago(32_800),
  durationMs: 81,
  ...changed,
});
export const exhausted = (say: Say): Delivery =>
  delivery(say, {
    deliveryId: '7b1c4e2f-97d0-8a3b-8c6e-8f214f1a77b2',
    eventType: 'payment_payout_completed',
    status: 'exhausted',
    statusCode: 502,
    responsePreview: say('<html><body><h1>502 Bad Gateway</h1></body></html>'),
  });
