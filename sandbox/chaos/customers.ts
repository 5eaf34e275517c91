/** Persistent merchants and customers: they repeat requests that a dead service or a hung chain interrupted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainId, chainOf, findToken, type Token } from '../../domain/chains.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';
import type { PaymentStatus } from '../../domain/payment/view.ts';
import { serializeByKey } from '../../src/lib/concurrency.ts';
import { payOnEvm } from '../payOnEvm.ts';
import { payOnSolana } from '../payOnSolana.ts';
import { payOnStellar } from '../payOnStellar.ts';
import { fundAccount } from '../stellar/controls.ts';
import { walletLinkAt } from '../walletLink.ts';
import type { Order } from './orders.ts';
import type { ChaosWorld } from './world.ts';

/** Used fields of the API's answer. */
export interface Payment {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly errorCode: string | null;
  readonly paymentLink: string | null;
  readonly source: {
    readonly chainId: string;
    readonly tokenSymbol: string;
    readonly amount: string;
    readonly receiverAddress: string;
    readonly receiverMemo: string | null;
    readonly receiverAddressContract: string | null;
    readonly receiverMemoContract: string | null;
  };
  readonly destination: { readonly amount: string };
  readonly refunds?: readonly { readonly status: string; readonly amount: string; readonly txHash: string | null }[];
}

export interface Placed {
  readonly order: Order;
  readonly payment: Payment;
}

const triesMax = 150;
const payTriesMax = 4;
const pause_ms = 1_000;
const call_ms = 15_000;
const pay_ms = 60_000;

export function createCustomers(chaos: ChaosWorld) {
  /** One account pays on a chain, one transaction after the other. */
  const inLine = serializeByKey();

  async function ask<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
    const response = await fetch(`${chaos.baseUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': chaos.apps.wallet.ordersKey },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(call_ms),
    });
    return { status: response.status, body: (await response.json()) as T };
  }

  /** Repeats an order until it is answered with its payment. @throws if it is refused */
  async function create(order: Order): Promise<Placed> {
    if (order.to === 1500) await patiently(() => fundAccount(chaos.rpcUrl(1500), order.receiver, { usdc: 0n }));
    const { orderId, from, to, receiver, amount } = order;
    const body = {
      orderId,
      type: 'exactOut',
      display: { title: 'Chaos' },
      source: { chainId: from, tokenSymbol: 'USDC' },
      destination: { chainId: to, tokenSymbol: 'USDC', receiverAddress: receiver, amount },
    };
    const payment = await patiently(async () => {
      const answer = await ask<Payment>('POST', '/payment-api/payments', body);
      if (answer.status === 200 || answer.status === 201) return answer.body;
      throw new Error(`creating ${orderId}: ${answer.status} ${JSON.stringify(answer.body)}`);
    });
    return { order, payment };
  }

  async function read(paymentId: string): Promise<Payment> {
    return patiently(async () => {
      const { status, body } = await ask<Payment>('GET', `/payment-api/payments/${paymentId}`);
      if (status === 200) return body;
      throw new Error(`reading ${paymentId}: ${status} ${JSON.stringify(body)}`);
    });
  }

  /** According to its habit; a late payer pays at their call. */
  async function pay({ order, payment }: Placed): Promise<void> {
    const { from, habit } = order;
    const usdc = tokenOf(from, 'USDC');
    const due = unitsOf(payment.source.amount, usdc);
    const send = (amount: bigint, token = usdc) => inLine(String(from), () => payOnce(payment, from, token, amount));
    switch (habit) {
      case 'inParts':
        await send(due / 3n);
        await send(due - due / 3n);
        return;
      case 'over':
        return send(due + unitsOf('0.75', usdc));
      case 'under':
        return send(due - unitsOf('0.60', usdc));
      case 'otherToken': {
        const other = chainOf(from).tokens.find(({ symbol }) => symbol !== 'USDC') ?? usdc;
        return send(unitsOf(formatAmount(due, usdc.decimals), other), other);
      }
      case 'exact':
      case 'late':
        return send(due);
      case 'never':
        return;
    }
  }

  /** A payer whose wallet showed an error pays again, and may have paid twice: then the excess is held. */
  async function payOnce(payment: Payment, from: ChainId, token: Token, amount: bigint): Promise<void> {
    const { keys } = chaos;
    const rpcUrl = chaos.rpcUrl(from);
    const order = { ...payment.source, token: token.address, amount };
    await patiently(async () => {
      const { family } = chainOf(from);
      if (family === 'evm') return within(payOnEvm(rpcUrl, keys.customer, order));
      if (family === 'stellar') return within(payOnStellar(rpcUrl, keys.stellar.customer, order));
      const walletLink = await walletLinkAt(payment.paymentLink, 'solana').catch(() => null);
      return within(payOnSolana(rpcUrl, keys.solana.customer, { ...order, decimals: token.decimals, walletLink }));
    }, payTriesMax);
  }

  return { create, read, pay };
}

export type Customers = ReturnType<typeof createCustomers>;

/** The account that pays on a chain. */
export function customerOn({ keys, world }: ChaosWorld, chainId: ChainId): string {
  if (chainId === 1500) return world.stellar?.customer ?? '';
  if (chainId === 501) return world.solana?.customer ?? '';
  return privateKeyToAddress(keys.customer);
}

export function tokenOf(chainId: ChainId, symbol: 'USDC' | 'USDT'): Token {
  const token = findToken(chainOf(chainId), symbol);
  if (!token) throw new Error(`chain ${chainId} has no ${symbol}`);
  return token;
}

export function unitsOf(amount: string, { decimals }: Pick<Token, 'decimals'>): bigint {
  const units = parseAmount(amount, decimals);
  if (typeof units === 'string') throw new Error(`${amount} is no amount: ${units}`);
  return units;
}

/** @throws the last failure */
export async function patiently<T>(work: () => Promise<T>, tries = triesMax): Promise<T> {
  for (let left = tries; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left <= 1) throw error;
      await sleep(pause_ms);
    }
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  const late = sleep(pay_ms, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${pay_ms / 1_000} s`);
  });
  return Promise.race([work, late]);
}
