/** Merchants and customers who do not give up: what a dead service cut off they do again, with the same orderId. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, getAddress } from 'viem';
import type { ChainId } from '../../domain/chains.ts';
import type { Sandbox } from './sandbox.ts';
import type { Answer } from './shop.ts';

/** One order from its first try on; what is known of it is filled in on the way. */
export interface Order {
  readonly orderId: string;
  readonly from: ChainId;
  readonly to: ChainId;
  readonly amount: string;
  /** An account that nobody else pays to: its balance shows what this payment paid out. */
  readonly receiver: Address;
  payment?: Answer['body'];
  payinHash?: string;
  registered?: boolean;
}

const poll_ms = 50;

/** The service has died, or is not there at all. */
export const isCutOff = (error: unknown): boolean => error instanceof TypeError && error.message === 'fetch failed';

export function createCustomers(sandbox: Sandbox) {
  const orders: Order[] = [];

  function newOrder(from: ChainId, to: ChainId): Order {
    const number = orders.length + 1;
    const receiver = getAddress(`0x${(0xabcd_0000 + number).toString(16).padStart(40, '0')}`);
    const order = { orderId: `order-${number}`, from, to, amount: `${number}.25`, receiver };
    orders.push(order);
    return order;
  }

  /** Whatever of create, pay and register has not happened yet. @throws when the service is cut off in between */
  async function serve(order: Order): Promise<void> {
    const { ordersKey } = sandbox.file().wallet;
    order.payment ??= await created(order, ordersKey);
    order.payinHash ??= await sandbox.pay(order.payment);
    if (order.registered) return;
    const body = { txHash: order.payinHash, fromAddress: sandbox.file().customer[String(order.from)]?.address };
    const { status } = await sandbox.call('POST', `/payment-api/payments/${order.payment.id}/payin`, {
      body,
      key: ordersKey,
    });
    // Registering is a hint: too late it is refused.
    assert.ok(status === 200 || status === 409, `registering answered ${status}`);
    order.registered = true;
  }

  async function created(order: Order, key: string): Promise<Answer['body']> {
    const body = {
      orderId: order.orderId,
      type: 'exactOut',
      display: { title: 'Coffee' },
      source: { chainId: order.from, tokenSymbol: 'USDC' },
      destination: {
        chainId: order.to,
        tokenSymbol: 'USDC',
        receiverAddress: order.receiver,
        amount: order.amount,
      },
    };
    for (;;) {
      const answer = await sandbox.create(body, key);
      if (answer.status === 201 || answer.status === 200) return answer.body;
      assert.equal(answer.status, 503, JSON.stringify(answer.body));
      await sleep(poll_ms);
    }
  }

  return {
    orders,

    /** One order after the other on a route, beginning with those that were cut off, until the service dies. */
    async come(from: ChainId, to: ChainId): Promise<void> {
      try {
        for (;;) {
          const begun = orders.filter((order) => order.from === from && !order.registered);
          for (const order of begun) await serve(order);
          const order = newOrder(from, to);
          await serve(order);
          await sandbox.follow(order.payment.id);
        }
      } catch (error) {
        if (!isCutOff(error)) throw error;
      }
    },

    /** Ends what was begun. @returns every payment as it ended */
    async finish(): Promise<readonly Answer['body'][]> {
      for (const order of orders) await serve(order);
      return Promise.all(orders.map(({ payment }) => sandbox.follow(payment.id)));
    },
  };
}
