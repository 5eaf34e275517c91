/** The payment as the API shows it (service reference 2.1 to 2.4), in its forms. */
import type { Payment } from '../../domain/payment/state.ts';
import { type PaymentView, viewOf } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { HttpDeps } from './deps.ts';
import type { PaymentResponse, WebhookPayment } from './schemas/responses.ts';

/** For the holder of the app's key. */
export function paymentResource(view: PaymentView, paymentLink: string | null): PaymentResponse {
  return {
    ...webhookData(view),
    metadata: view.metadata,
    webhookUrl: view.webhookUrl,
    webhookSecretSource: view.webhookUrl === null ? null : 'app',
    paymentLink,
    merchant: null,
  };
}

export type Full = (view: PaymentView) => PaymentResponse;

export const fullResource =
  ({ paymentLink }: Pick<HttpDeps, 'paymentLink'>): Full =>
  (view) =>
    paymentResource(view, paymentLink?.(view) ?? null);

/** The payment as a command left it or found it: the log is ahead of the read models. */
export const viewAfter = ({ payment, at }: { readonly payment: Payment; readonly at: Instant }): PaymentView =>
  viewOf(payment, at);

/** For whoever holds the id: what to pay, until when, and how far it is. What belongs to the app is null. */
export const publicResource = (view: PaymentView): PaymentResponse => ({ ...creatorResource(view), orderId: null });

/** For whoever created it without a key: the order id is the caller's own. */
export const creatorResource = (view: PaymentView): PaymentResponse => ({
  ...webhookData(view),
  metadata: null,
  webhookUrl: null,
  webhookSecretSource: null,
  paymentLink: null,
  merchant: null,
});

/**
 * `data` of a webhook, the same schema for both events: the payment but metadata, webhookUrl, webhookSecretSource,
 * paymentLink and merchant (service reference 6).
 *
 * @param view of the payment folded up to the event that the webhook tells of
 */
export const webhookData = (view: PaymentView): WebhookPayment => ({
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
});

const sourceOf = (view: PaymentView): PaymentResponse['source'] => ({
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

const destinationOf = (view: PaymentView): PaymentResponse['destination'] => ({
  chainId: String(view.destinationChainId),
  receiverAddress: view.receiverAddress,
  receiverMemo: view.receiverMemo,
  tokenSymbol: view.destinationTokenSymbol,
  tokenAddress: view.destinationTokenAddress,
  amount: view.destinationAmount,
  txHash: view.payoutTxHash,
  confirmedAt: view.payoutConfirmedAt,
});
