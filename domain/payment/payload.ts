/**
 * The payment as it is sent to a merchant (service reference 2.1 to 2.4 and 6): the part that the API's answers and webhooks share.
 * The API's schemas describe the same fields; the type checker compares them.
 */
import { type Instant, minute_ms, plus } from '../time.ts';
import type { PaymentView, RefundView } from './view.ts';

/**
 * `data` of a webhook, the same schema for all events: the payment without metadata, webhookUrl, webhookSecretSource, paymentLink and
 * merchant (service reference 6).
 *
 * @param view of the payment folded up to the event that the webhook tells of
 */
export const webhookData = (view: PaymentView) => ({
  id: view.paymentId,
  appId: view.appId,
  orderId: view.orderId,
  keyless: view.keyless,
  status: view.status,
  errorCode: view.errorCode,
  errorMessage: view.errorMessage,
  type: view.type,
  createdAt: view.createdAt,
  updatedAt: view.updatedAt,
  expiresAt: view.expiresAt,
  display: { title: view.title, name: view.title, description: view.description, currency: view.currency },
  source: sourceOf(view),
  destination: destinationOf(view),
  webhookSecret: null,
  payFrom: payFromOf(view),
  amounts: amountsOf(view),
  refunds: view.refunds.map(refundResource),
});

export const refundResource = ({ chainId, ...refund }: RefundView) => ({
  ...refund,
  chainId: String(chainId),
});

const payFromOf = ({ payFrom }: PaymentView) =>
  payFrom?.map(({ chainId, ...source }) => ({ ...source, chainId: String(chainId) })) ?? null;

const amountsOf = ({ amountExpected, amountCame, amountDelta }: PaymentView) => ({
  expected: amountExpected,
  received: amountCame,
  delta: amountDelta,
});

const sourceOf = (view: PaymentView) => ({
  chainId: String(view.sourceChainId),
  tokenSymbol: view.sourceTokenSymbol,
  tokenAddress: view.sourceTokenAddress,
  amount: view.sourceAmount,
  receiverAddress: view.depositAddress,
  receiverMemo: view.depositMemo,
  fee: view.sourceFee,
  senderAddress: view.senderAddress,
  txHash: view.payinTxHash,
  amountReceived: view.amountReceived,
  confirmedAt: view.payinConfirmedAt,
  receiverAddressContract: view.depositContract,
  receiverMemoContract: view.depositContractMemo,
});

const destinationOf = (view: PaymentView) => ({
  chainId: String(view.destinationChainId),
  receiverAddress: view.receiverAddress,
  receiverMemo: view.receiverMemo,
  tokenSymbol: view.destinationTokenSymbol,
  tokenAddress: view.destinationTokenAddress,
  amount: view.destinationAmount,
  txHash: view.payoutTxHash,
  confirmedAt: view.payoutConfirmedAt,
});

export type WebhookData = ReturnType<typeof webhookData>;

/**
 * `data` of a test webhook: a paid payment in full that never was. Its order's name says so, for receivers that look at no type.
 *
 * @param at when the test is sent: its payment is paid out just then
 */
export const sampleWebhookData = (appId: string, at: Instant): WebhookData => ({
  id: '00000000-0000-8000-8000-000000000000',
  appId,
  orderId: 'webhook-test',
  keyless: false,
  status: 'payment_payout_completed',
  errorCode: null,
  errorMessage: null,
  type: 'exactOut',
  createdAt: plus(at, -5 * minute_ms),
  updatedAt: at,
  expiresAt: plus(at, 55 * minute_ms),
  display: { title: 'Webhook test', name: 'Webhook test', description: 'No money moved.', currency: 'USD' },
  source: {
    chainId: '8453',
    tokenSymbol: 'USDC',
    tokenAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    amount: '10.01',
    receiverAddress: '0x000000000000000000000000000000000000dEaD',
    receiverMemo: null,
    fee: '0.01',
    senderAddress: '0x000000000000000000000000000000000000bEEF',
    txHash: `0x${'0'.repeat(63)}1`,
    amountReceived: '10.01',
    confirmedAt: plus(at, -minute_ms),
    receiverAddressContract: null,
    receiverMemoContract: null,
  },
  destination: {
    chainId: '1',
    receiverAddress: '0x000000000000000000000000000000000000dEaD',
    receiverMemo: null,
    tokenSymbol: 'USDC',
    tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    amount: '10.00',
    txHash: `0x${'0'.repeat(63)}2`,
    confirmedAt: at,
  },
  webhookSecret: null,
  payFrom: null,
  amounts: { expected: '10.01', received: '10.01', delta: '0.00' },
  refunds: [],
});
