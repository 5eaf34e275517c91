/** The sandbox's customer, who pays on every chain of it. */
import { type Chain, findChain, findToken, type Token } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import { type PaymentStatus, paymentStatuses } from '../domain/payment/view.ts';
import type { SandboxKeys } from './keys.ts';
import { patientFetch } from './patientFetch.ts';
import { payOnEvm } from './payOnEvm.ts';
import { payOnStellar } from './payOnStellar.ts';
import type { SandboxFile } from './sandboxFile.ts';
import { walletLinkAt } from './walletLink.ts';

/** Statuses of a payment until its payout. */
export const wayToPayout: readonly PaymentStatus[] = paymentStatuses.slice(
  0,
  paymentStatuses.indexOf('payment_payout_completed') + 1,
);

/** Fields of the API's keyless answer that a customer needs. */
export interface PublicPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly errorCode: string | null;
  /** Link for the payer, if the reader knows it. */
  readonly paymentLink?: string | null;
  readonly source: {
    readonly chainId: string;
    readonly tokenSymbol: string;
    readonly amount: string | null;
    readonly receiverAddress: string;
    readonly receiverMemo: string | null;
    readonly receiverAddressContract: string | null;
    readonly receiverMemoContract: string | null;
    readonly txHash: string | null;
  };
  readonly destination: {
    readonly chainId: string;
    readonly tokenSymbol: string;
    readonly amount: string | null;
    readonly receiverAddress: string;
    readonly txHash: string | null;
  };
}

/** Money to send instead of the requested amount. */
export interface Sent {
  /** In whole tokens. */
  readonly amount?: string;
  readonly chainId?: string;
  readonly tokenSymbol?: string;
  /** On Stellar. */
  readonly memo?: string;
}

export interface Transfer {
  /** Amount, token, sender and receiver. */
  readonly says: string;
  /** Sends it. @returns the transaction's hash once it is mined @throws Error */
  hash(): Promise<string>;
}

/** @throws Error that states why it cannot be paid */
export async function payAsCustomer(
  sandbox: SandboxFile,
  keys: SandboxKeys,
  { id, source, paymentLink }: PublicPayment,
  sent: Sent = {},
): Promise<Transfer> {
  const { chainId = source.chainId, tokenSymbol = source.tokenSymbol, amount: text = source.amount } = sent;
  const chain = findChain(chainId);
  const token = chain && findToken(chain, tokenSymbol);
  const rpcUrl = sandbox.chains[chainId]?.rpcUrl;
  if (!chain || !token || !rpcUrl) throw new Error(`the sandbox has no customer on chain ${chainId}`);
  if (text === null) throw new Error('this payment accepts any amount: add --amount 12.50');
  const amount = parseAmount(text, token.decimals);
  if (typeof amount === 'string')
    throw new Error(`${text} is not an amount of ${token.symbol} (at most ${token.decimals} decimals)`);
  const order = {
    ...source,
    amount,
    ...(sent.memo !== undefined && { receiverMemo: sent.memo }),
  };
  const customer = sandbox.customer[chainId]?.address;
  return {
    says: `${text} ${token.symbol} on ${chain.name}: ${customer} → ${payeeOf(order)}`,
    hash: () =>
      sendAsCustomer(keys, { chain, token, rpcUrl }, order, async () =>
        walletLinkAt(paymentLink ?? (await paymentLinkOf(sandbox, id)), 'solana'),
      ),
  };
}

/** Place and kind of the sent money. */
interface Way {
  readonly chain: Chain;
  readonly token: Token;
  readonly rpcUrl: string;
}

/**
 * Sends from the customer's account as a wallet of the chain does.
 * @param walletLink finds the link of a Solana wallet; null for none
 * @returns the transaction's hash once it is mined @throws Error
 */
export async function sendAsCustomer(
  keys: SandboxKeys,
  { chain, token, rpcUrl }: Way,
  source: PayableAt & { readonly amount: bigint },
  walletLink: () => Promise<string | null>,
): Promise<string> {
  const order = { ...source, token: token.address };
  switch (chain.family) {
    case 'evm':
      return payOnEvm(rpcUrl, keys.customer, order);
    case 'stellar':
      return payOnStellar(rpcUrl, keys.stellar.customer, order);
    case 'solana': {
      // Loading its libraries takes a tenth of the processor time of a start, and a sandbox may have no payer on Solana.
      const { payOnSolana } = await import('./payOnSolana.ts');
      return payOnSolana(rpcUrl, keys.solana.customer, {
        ...order,
        decimals: token.decimals,
        walletLink: await walletLink(),
      });
    }
  }
}

export type PayableAt = Pick<
  PublicPayment['source'],
  'receiverAddress' | 'receiverMemo' | 'receiverAddressContract' | 'receiverMemoContract'
>;

function payeeOf(source: PayableAt): string {
  const { receiverAddress, receiverMemo, receiverAddressContract, receiverMemoContract } = source;
  if (receiverAddressContract !== null) return `pay() of ${receiverAddressContract}, memo ${receiverMemoContract}`;
  return receiverMemo === null ? receiverAddress : `${receiverAddress}, memo ${receiverMemo}`;
}

/** Link that a merchant displays to the customer: it needs the key of the payment's app. */
export async function paymentLinkOf(sandbox: SandboxFile, paymentId: string): Promise<string | null> {
  for (const { ordersKey } of [sandbox.wallet, sandbox.merchant]) {
    const response = await patientFetch(urlOf(sandbox, paymentId), { headers: { 'X-API-Key': ordersKey } });
    const { paymentLink } = (await response.json()) as { readonly paymentLink?: string | null };
    if (response.ok && paymentLink) return paymentLink;
  }
  return null;
}

/** @throws Error when there is none */
export async function fetchPayment(sandbox: SandboxFile, paymentId: string): Promise<PublicPayment> {
  const response = await patientFetch(urlOf(sandbox, paymentId));
  const body = (await response.json()) as PublicPayment & { message?: string };
  if (!response.ok) throw new Error(`${response.status}: ${body.message ?? 'no such payment'}`);
  return body;
}

const urlOf = ({ baseUrl }: SandboxFile, paymentId: string): string =>
  `${baseUrl}/payment-api/payments/${encodeURIComponent(paymentId)}`;
