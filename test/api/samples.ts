import type { PaymentView } from '../../domain/payment/view.ts';
import { instant } from '../../domain/time.ts';
import type { DeliveryRecord } from '../../queries/deliveries.ts';
import type { Overview } from '../../queries/overview.ts';
import type { Stats } from '../../queries/reports.ts';

const at = (hour: number, minute = 0) => instant(Date.UTC(2026, 10, 21, hour, minute));

export const sampleStats: Stats = {
  period: 'today',
  volumeUsdc: '20.02',
  paymentCount: 2,
  avgOrderUsdc: '10.01',
  netToWalletUsdc: '20.00',
  refundedUsdc: '0.00',
  chart: [{ date: '2026-11-21', volumeUsdc: '20.02', paymentCount: 2 }],
};

export const sampleOverview: Overview = {
  stats: sampleStats,
  before: { volumeUsdc: '10.01', paymentCount: 1 },
  created: {
    count: 3,
    paid: 2,
    expiredUnpaid: 1,
    byStatus: {
      payment_unpaid: 0,
      payment_started: 0,
      payment_payin_completed: 0,
      payment_bridging: 0,
      payment_payout_started: 0,
      payment_payout_completed: 2,
      payment_completed: 0,
      payment_bounced: 0,
      payment_expired: 1,
      payment_refunded: 0,
    },
  },
  seenToPaidOut: { count: 2, median_s: 24, p95_s: 61 },
};

/** Its receiver did not answer in time. */
export const sampleDelivery: DeliveryRecord = {
  deliveryId: '9b2f5c1e-8d39-4a53-8f1c-5e0f4f6b1d11',
  paymentId: '0d9c1c60-7a43-8a5e-9b57-1d1c9f7f2a10',
  eventType: 'payment_payin_completed',
  statusCode: null,
  responsePreview: null,
  deliveredAt: '2026-11-21T09:00:00.000Z',
  status: 'exhausted',
  attemptNumber: 1,
  kind: 'automatic',
  firstDeliveryId: null,
  url: 'https://shop.example/hooks',
  error: 'timeout',
  startedAt: at(8, 59),
  durationMs: 10_000,
  request: {
    url: 'https://shop.example/hooks',
    headers: { 'webhook-id': '9b2f5c1e-8d39-4a53-8f1c-5e0f4f6b1d11' },
    body: '{}',
    isBodyAsSent: true,
  },
  redeliveries: [],
  redeliverable: true,
};

/** A payment whose payin is confirmed and whose payout is not yet sent. */
export const sampleView: PaymentView = {
  paymentId: '0d9c1c60-7a43-8a5e-9b57-1d1c9f7f2a10',
  appId: 'merchant_demo',
  orderId: 'order-7',
  status: 'payment_payin_completed',
  errorCode: null,
  errorMessage: null,
  type: 'exactOut',
  intent: null,
  keyless: false,
  title: 'Coffee beans',
  description: null,
  currency: 'USD',
  lineItems: null,
  metadata: { cart: '7' },
  webhookUrl: 'https://shop.example/hooks',
  createdAt: at(9),
  updatedAt: at(9, 1),
  expiresAt: at(10),
  sourceChainId: 8453,
  sourceTokenSymbol: 'USDC',
  sourceTokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  sourceAmount: '10.01',
  sourceFee: '0.01',
  depositAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  depositMemo: null,
  depositContract: null,
  depositContractMemo: null,
  senderAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  payinTxHash: `0x${'ab'.repeat(32)}`,
  amountReceived: '10.01',
  amountExpected: '10.01',
  amountCame: '10.01',
  amountDelta: '0.00',
  excess: '0.00',
  dust: '0.00',
  refunded: '0.00',
  refunds: [],
  payinSeenAt: at(9, 1),
  payinConfirmedAt: at(9, 1),
  destinationChainId: 1,
  destinationTokenSymbol: 'USDC',
  destinationTokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  destinationAmount: '10.00',
  receiverAddress: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
  receiverMemo: null,
  payFrom: null,
  payoutTxHash: null,
  payoutConfirmedAt: null,
  missing: null,
  held: null,
  cancelledAt: null,
  note: null,
  tags: null,
};
