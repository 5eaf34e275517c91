/** Steps of situations, run on a sandbox and printed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { chains } from '../domain/chains.ts';
import { type PaymentStatus, terminalStatuses } from '../domain/payment/view.ts';
import { fetchPayment, type PublicPayment, payAsCustomer, type Transfer, wayToPayout } from './customer.ts';
import type { SandboxKeys } from './keys.ts';
import { orderRefund, sayRefundAddress } from './moneyBack.ts';
import { patientFetch } from './patientFetch.ts';
import type { SandboxFile } from './sandboxFile.ts';
import { type Acts, type Order, price } from './situations.ts';

const poll_ms = 100;
const patience_ms = 10 * 60_000;

type Created = PublicPayment & { readonly paymentLink: string | null; readonly message?: string };

/**
 * @param say prints a line
 * @param send sends a transfer, one after the other if several situations run at once, because the customer's nonces
 * are numbered
 */
export function createActs(
  sandbox: SandboxFile,
  keys: SandboxKeys,
  say: (line: string) => void,
  send: (transfer: Transfer) => Promise<string> = (transfer) => transfer.hash(),
): Acts {
  const running = chains.filter(({ id, family }) => family === 'evm' && sandbox.chains[String(id)]);

  const said = new Map<string, PaymentStatus>();

  /** Polls until the condition holds, and prints each new status. */
  async function watch(payment: PublicPayment, holds: (now: PublicPayment) => boolean | Promise<boolean>) {
    for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; await sleep(poll_ms)) {
      const now = await fetchPayment(sandbox, payment.id);
      if (now.status !== said.get(payment.id)) say(`${now.status}${now.errorCode ? `, ${now.errorCode}` : ''}`);
      said.set(payment.id, now.status);
      if (await holds(now)) return;
    }
    throw new Error(`payment ${payment.id} is still ${said.get(payment.id)} after ${patience_ms / 60_000} minutes`);
  }

  return {
    hasStellar: () => sandbox.stellar !== null,
    chains: (tokens = 1) => running.filter((each) => each.tokens.length >= tokens).map(({ id }) => String(id)),

    async create(order = {}) {
      const { key, body } = orderOf(
        sandbox,
        order,
        running.map(({ id }) => String(id)),
      );
      const response = await patientFetch(`${sandbox.baseUrl}/payment-api/payments`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(key && { 'X-API-Key': key }) },
        body: JSON.stringify(body),
      });
      const payment = (await response.json()) as Created;
      if (!response.ok) throw new Error(`the payment could not be created: ${payment.message}`);
      const { source, paymentLink } = payment;
      say(
        `payment ${payment.id}: ${source.amount} ${source.tokenSymbol}${order.life_s ? `, for ${order.life_s} s` : ''}`,
      );
      if (paymentLink) say(`its page: ${paymentLink}`);
      return payment;
    },

    async pay(payment, sent) {
      const transfer = await payAsCustomer(sandbox, keys, payment, sent);
      say(transfer.says);
      say(`paid in transaction ${await send(transfer)}`);
    },

    until: (payment, ...statuses) =>
      watch(payment, ({ id, status }) => {
        if (statuses.some((each) => status === each || isBeyond(status, each))) return true;
        if (terminalStatuses.includes(status) && !statuses.some((each) => mayFollow(each, status)))
          throw new Error(`payment ${id} ended as ${status}, not as ${statuses.join(' or ')}`);
        return false;
      }),

    async sendBack(payment) {
      say(`the payer signs that it goes back to ${await sayRefundAddress(sandbox, keys, payment)}`);
      say(`the merchant sends back ${await orderRefund(sandbox, payment)}`);
    },

    received: (payment, amount) =>
      watch(payment, async ({ id }) => {
        const headers = { 'X-API-Key': sandbox.merchant.ordersKey };
        const response = await patientFetch(`${sandbox.baseUrl}/payment-api/payments/${id}`, { headers });
        const { amounts } = (await response.json()) as { readonly amounts?: { readonly received: string } };
        return amounts?.received === amount;
      }),
  };
}

/** A payment with one status on the path has passed all earlier ones. */
const isBeyond = (status: PaymentStatus, other: PaymentStatus): boolean =>
  wayToPayout.includes(other) && wayToPayout.indexOf(status) > wayToPayout.indexOf(other);

/** Late money makes an expired payment bounce, and bounced money is refunded. */
const mayFollow = (status: PaymentStatus, ended: PaymentStatus): boolean =>
  ended === 'payment_expired' || (ended === 'payment_bounced' && status === 'payment_refunded');

/** The customer pays the same amount in all situations: exactIn. */
function orderOf(
  { merchant, wallet }: SandboxFile,
  { life_s, chainId, keyless, elsewhere }: Order,
  running: readonly string[],
) {
  const at = chainId ?? running.find((id) => !elsewhere || id !== merchant.settlement.chainId);
  if (at === undefined) throw new Error('this sandbox has one EVM chain: name more in SANDBOX_CHAINS');
  const asked = {
    appId: keyless ? wallet.appId : merchant.appId,
    orderId: `trigger-${randomUUID()}`,
    type: 'exactIn',
    display: { title: 'A situation', currency: 'USD' },
    source: { chainId: at, tokenSymbol: 'USDC', amount: price },
    ...(life_s !== undefined && { expiresInSeconds: life_s }),
  };
  if (!keyless) return { key: merchant.ordersKey, body: asked };
  const { receiverAddress } = merchant.settlement;
  return { key: undefined, body: { ...asked, destination: { chainId: at, tokenSymbol: 'USDC', receiverAddress } } };
}
