/** Refunds as in production: the payer signs an address on the payment's page; then the merchant orders the refund by the API. */
import { findChain } from '../domain/chains.ts';
import { refundText } from '../domain/payment/refundAddress.ts';
import { type PublicPayment, paymentLinkOf } from './customer.ts';
import type { SandboxKeys } from './keys.ts';
import { patientFetch } from './patientFetch.ts';
import type { SandboxFile } from './sandboxFile.ts';
import { messageSigner } from './signMessage.ts';

/** For a payment on an EVM chain; the refund goes to the sending address. @returns the address @throws Error with the reason */
export async function sayRefundAddress(
  sandbox: SandboxFile,
  keys: SandboxKeys,
  { id, source }: PublicPayment,
): Promise<string> {
  const { address, sign } = messageSigner(keys.customer);
  const words = { service: sandbox.baseUrl, paymentId: id, chain: findChain(source.chainId)?.name ?? '' };
  const text = refundText({ ...words, sender: address, address, memo: null, number: 1 });
  const form = { from: address, to: address, number: '1', signature: await sign(text), lang: 'en' };
  const response = await patientFetch(`${await paymentLinkOf(sandbox, id)}/refund`, {
    method: 'POST',
    headers: { origin: sandbox.baseUrl },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  if (response.status !== 303) throw new Error(`the page did not take the address: ${response.status}`);
  return address;
}

/** Refunds all held money of the demo merchant's payment. @returns the refunded amount @throws Error with the reason */
export async function orderRefund({ baseUrl, merchant }: SandboxFile, { id }: PublicPayment): Promise<string> {
  const response = await patientFetch(`${baseUrl}/payment-api/payments/${id}/refunds`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': merchant.adminKey },
    body: JSON.stringify({ scope: 'all', idempotencyKey: `trigger-${id}` }),
  });
  const answer = (await response.json()) as {
    readonly message?: string;
    readonly data?: readonly { readonly amount: string; readonly tokenSymbol: string; readonly networkFee: string }[];
  };
  const [refund] = answer.data ?? [];
  if (!response.ok || !refund) throw new Error(`nothing goes back: ${answer.message ?? response.status}`);
  return `${refund.amount} ${refund.tokenSymbol}, ${refund.networkFee} for sending it`;
}
