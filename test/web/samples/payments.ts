/** Payments of an ordinary day. */
import type { PaymentStatus, PaymentView } from '../../../domain/payment/view.ts';
import { type Instant, minute_ms, plus } from '../../../domain/time.ts';
import type { Needs } from '../../../web/dashboard/overview.ts';

export const now = '2026-11-22T12:05:00.000Z' as Instant;
export const ago = (duration_ms: number): Instant => plus(now, -duration_ms);

/** Returns every text of another person: specs replace it by a hostile one. */
export type Say = (text: string) => string;

export const usdcOnBase = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const deposit = '0x4f1a77b2c9e0d35a86b1c4e2f97d0a3b5c6e8f21';
export const wallet = '0x10834f6Ba9BF3b3B3eE71C2c6c1D7Fb2F5B57D3b';
export const payer = '0x9c3e8f00b7d14a6c92ee55f0a1b2c3d4e5f641d0';
export const payinHash = '0xb7d14a6c92ee55f0a1b2c3d4e5f641d09c3e8f00b7d14a6c92ee55f0a1b200e2';
export const payoutHash = '0x3c0a5f641d09c3e8f00b7d14a6c92ee55f0a1b2c3d4e5f641d09c3e8f00b7190';
export const secret = '4f1a77b2c9e0d35a86b1c4e2f97d0a3b5c6e8f214f1a77b2c9e0d35a86b1c4e2';
export const fingerprint = `sha256:${'9c3e8f00b7d14a6c'.repeat(4)}`;

export const payment = (say: Say, changed: Partial<PaymentView> = {}): PaymentView => ({
  paymentId: '51e61f19-6faf-864c-aaec-b8f58c1ad314',
  appId: 'merchant_teahouse',
  orderId: say('A-1042'),
  status: 'payment_payout_completed',
  errorCode: null,
  errorMessage: null,
  type: 'exactOut',
  intent: null,
  keyless: false,
  title: say('Two pounds of Darjeeling'),
  description: say('First flush, 2026, in tins'),
  currency: 'USD',
  lineItems: null,
  metadata: { table: say('seven'), nested: { deep: [1, 2, say('three')] } },
  webhookUrl: 'https://shop.teahouse.example/webhooks',
  createdAt: ago(73_000),
  updatedAt: ago(29_000),
  expiresAt: plus(now, 14 * minute_ms),
  sourceChainId: 8453,
  sourceTokenSymbol: 'USDC',
  sourceTokenAddress: usdcOnBase,
  sourceAmount: '10.02',
  sourceFee: '0.02',
  depositAddress: deposit,
  depositMemo: null,
  depositContract: null,
  depositContractMemo: null,
  senderAddress: payer,
  payinTxHash: payinHash,
  amountReceived: '10.02',
  amountExpected: '10.02',
  amountCame: '10.02',
  amountDelta: '0.00',
  payinConfirmedAt: ago(33_000),
  payinSeenAt: ago(53_130),
  excess: '0.00',
  dust: '0.00',
  refunded: '0.00',
  refunds: [],
  destinationChainId: 42161,
  destinationTokenSymbol: 'USDC',
  destinationTokenAddress: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
  destinationAmount: '10.00',
  receiverAddress: wallet,
  receiverMemo: null,
  payFrom: null,
  payoutTxHash: payoutHash,
  payoutConfirmedAt: ago(29_000),
  missing: null,
  held: null,
  cancelledAt: null,
  refundOf: null,
  note: null,
  tags: null,
  ...changed,
});

export const unpaid = {
  status: 'payment_unpaid',
  senderAddress: null,
  payinTxHash: null,
  amountReceived: null,
  payinConfirmedAt: null,
  payinSeenAt: null,
  excess: null,
  dust: null,
  payoutTxHash: null,
  payoutConfirmedAt: null,
} as const;

export const onStellar = (say: Say): PaymentView =>
  payment(say, {
    ...unpaid,
    orderId: null,
    sourceChainId: 1500,
    depositAddress: 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
    depositMemo: '17390481204881',
  });

/** Results of the list's payments. */
const came: Partial<Record<PaymentStatus, string>> = {
  payment_payout_completed: '10.00',
  payment_payout_started: '48.50',
  payment_started: '100.00',
  payment_refunded: '64.00',
  payment_bridging: '12000.00',
};

export const list = (say: Say): readonly PaymentView[] => {
  const rows: readonly [
    string,
    PaymentStatus,
    PaymentView['sourceChainId'],
    PaymentView['destinationChainId'],
    string,
  ][] = [
    ['A-1042', 'payment_payout_completed', 8453, 42161, '10.00'],
    ['A-1041', 'payment_payout_started', 501, 8453, '48.50'],
    ['A-1040', 'payment_started', 1500, 8453, '120.00'],
    ['A-1039', 'payment_bounced', 137, 8453, '7.25'],
    ['A-1038', 'payment_unpaid', 56, 8453, '1250.4875'],
    ['A-1037', 'payment_expired', 8453, 8453, '15.00'],
    ['A-1036', 'payment_refunded', 1, 8453, '64.00'],
    ['A-1035', 'payment_bridging', 1, 501, '12000.00'],
  ];
  return rows.map(([order, status, sourceChainId, destinationChainId, amount], place) =>
    payment(say, {
      orderId: say(order),
      status,
      sourceChainId,
      destinationChainId,
      sourceAmount: amount,
      amountReceived: null,
      amountExpected: amount,
      amountCame: came[status] ?? '0.00',
      ...(status === 'payment_bounced' && {
        held: [{ chainId: sourceChainId, tokenSymbol: 'USDT', amount: '7.25' }],
      }),
      ...(status === 'payment_started' && { missing: '20.00', amountReceived: '100.00', tags: [say('wholesale')] }),
      createdAt: ago(place * 7 * minute_ms),
      paymentId: `${place}1e61f19-6faf-864c-aaec-b8f58c1ad314`,
    }),
  );
};

export const underpaid = (say: Say): PaymentView =>
  payment(say, {
    status: 'payment_started',
    orderId: say('A-1043'),
    amountReceived: '1.00',
    amountCame: '1.00',
    amountDelta: '-9.02',
    missing: '9.02',
    payinConfirmedAt: null,
    excess: null,
    dust: null,
    payoutTxHash: null,
    payoutConfirmedAt: null,
    note: say('Called on Friday: sends the rest today'),
    tags: [say('wholesale'), say('phone-order')],
  });

export const counted = {
  sort: 'newest',
  counts: {
    all: 1_204,
    groups: { waiting: 12, paid: 1_100, needs: 3, expired: 80, refunded: 9 },
    needsCapped: false,
  },
  sums: {
    count: 1_204,
    capped: false,
    tokens: [
      { tokenSymbol: 'USDC', due: '48210.55', came: '47000.10' },
      { tokenSymbol: 'USDT', due: '1200.00', came: '1202.00' },
    ],
  },
  searchCapped: false,
} as const;

export const nothingCounted = {
  sort: 'newest',
  counts: { all: 0, groups: { waiting: 0, paid: 0, needs: 0, expired: 0, refunded: 0 }, needsCapped: false },
  sums: { count: 0, capped: false, tokens: [] },
  searchCapped: false,
} as const;

export const noNeeds: Needs = {
  payments: { holding: { count: 0, sums: [] }, underpaid: [], capped: false },
  exhausted: 0,
  walletFrom: null,
  unusedKeys: [],
};

export const needs = (say: Say, exhausted: number): Needs => ({
  payments: {
    holding: {
      count: 2,
      sums: [
        { tokenSymbol: 'USDC', amount: '9.50' },
        { tokenSymbol: 'USDT', amount: '2.00' },
      ],
    },
    underpaid: [underpaid(say)],
    capped: false,
  },
  exhausted,
  walletFrom: plus(now, 40 * 60 * minute_ms),
  unusedKeys: [{ keyId: 'k', name: say('till 1') }],
});
