/** Persistent merchants and customers: they repeat requests that a dead service interrupted, with the same orderId. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { getAddress } from 'viem';
import type { ChainId } from '../../domain/chains.ts';
import type { Sandbox } from './sandbox.ts';
import type { Answer, Json } from './shop.ts';
import { poll_ms } from './suite.ts';

/** One order from its first attempt on; its facts are added on the way. */
export interface Order {
  readonly orderId: string;
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: string;
  /** An account that nobody else pays: its balance is this payment's payout. */
  readonly receiver: string;
  payment?: Answer['body'];
  payinHash?: string;
  registered?: boolean;
}

/** The service has died, or is not there at all. */
export const isCutOff = (error: unknown): boolean =>
  error instanceof TypeError && error.message.startsWith('fetch failed');

/** Repeats while the service is unavailable, which it must report properly. */
async function answered(expected: readonly number[], ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (expected.includes(answer.status)) return answer;
    assert.equal(answer.status, 503, JSON.stringify(answer.body));
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]/);
    await sleep(poll_ms);
  }
}

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(sandbox: Sandbox) {
  const orders: Order[] = [];
  /** Accounts on Stellar that receive payouts, opened when their order is created. */
  const unopened = new Map<string, Keypair>();

  function newReceiver(chainId: ChainId, number: number): string {
    if (chainId === 501) return SolanaKeypair.generate().publicKey.toBase58();
    if (chainId !== 1500) return getAddress(`0x${(0xabcd_0000 + number).toString(16).padStart(40, '0')}`);
    const account = Keypair.random();
    unopened.set(account.publicKey(), account);
    return account.publicKey();
  }

  function newOrder(from: ChainId, to: ChainId): Order {
    const number = orders.length + 1;
    const receiver = newReceiver(to, number);
    const order = { orderId: `order-${number}`, from, to, amount: `${number}.25`, receiver };
    orders.push(order);
    return order;
  }

  /** On Stellar customers pay into the contract. */
  const bodyOf = ({ orderId, from, to, receiver, amount }: Order): Json => ({
    orderId,
    type: 'exactOut',
    display: { title: 'Coffee' },
    ...(from === 1500 && { intent: 'stellar_payin_contracts' }),
    source: { chainId: from, tokenSymbol: 'USDC', ...(from === 1500 && { senderAddress: customerOn(1500) }) },
    destination: { chainId: to, tokenSymbol: 'USDC', receiverAddress: receiver, amount },
  });

  const customerOn = (chainId: ChainId) => sandbox.file().customer[String(chainId)]?.address;

  async function create(order: Order): Promise<void> {
    const { ordersKey } = sandbox.file().wallet;
    const account = unopened.get(order.receiver);
    if (account) await sandbox.openStellarAccount(account);
    unopened.delete(order.receiver);
    order.payment ??= (await answered([201, 200], () => sandbox.tryToCreate(bodyOf(order), ordersKey))).body;
  }

  async function pay(order: Order): Promise<void> {
    if (order.payinHash !== undefined) return;
    // A service that is started again has another port, and with it other links.
    const { paymentLink, id } = order.payment;
    if (paymentLink && !paymentLink.startsWith(sandbox.file().baseUrl))
      order.payment = (await answered([200], () => sandbox.callOnce('GET', `/payment-api/payments/${id}`))).body;
    order.payinHash = await sandbox.pay(order.payment);
  }

  /** Only a hint: for a funded payment it is late, and refused. */
  async function register(order: Order): Promise<void> {
    if (order.registered) return;
    const path = `/payment-api/payments/${order.payment.id}/payin`;
    const body = { txHash: order.payinHash, fromAddress: customerOn(order.from) };
    await answered([200, 409], () => sandbox.callOnce('POST', path, { body, key: sandbox.file().wallet.ordersKey }));
    order.registered = true;
  }

  /** Completes its missing steps. @throws if the service is interrupted in between */
  async function serve(order: Order): Promise<void> {
    await create(order);
    await pay(order);
    await register(order);
  }

  return {
    orders,
    newOrder,
    bodyOf,
    create,
    pay,

    /**
     * One order after the other on a route, beginning with those that were cut off, until the service dies or the shop closes.
     * @param pause_ms between two orders. Default: none
     */
    async come(from: ChainId, to: ChainId, closing?: AbortSignal, pause_ms = 0): Promise<void> {
      try {
        while (!closing?.aborted) {
          const begun = orders.filter((order) => order.from === from && !order.registered);
          for (const order of begun) await serve(order);
          const order = newOrder(from, to);
          await serve(order);
          await sandbox.follow(order.payment.id);
          // The end of the shop interrupts the pause.
          if (pause_ms > 0) await sleep(pause_ms, undefined, closing && { signal: closing }).catch(() => {});
        }
      } catch (error) {
        if (!isCutOff(error)) throw error;
      }
    },

    /** Completes started orders. @returns every payment as it ended */
    async finish(): Promise<readonly Answer['body'][]> {
      for (const order of orders) await serve(order);
      return Promise.all(orders.map(({ payment }) => sandbox.follow(payment.id)));
    },
  };
}
